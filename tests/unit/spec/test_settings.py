"""Network settings of a file: read, named by a cluster or a scenario, told where wrong."""

import pytest

from weft.errors import SpecError, UnknownName
from weft.spec.load import load_cluster, load_scenario, load_tuning, settings_of
from weft.spec.show import as_yaml, tuning_yaml

TEXT = """
apiVersion: weft/v1
kind: NetworkSettings
metadata:
  name: mine
  record: {weft: "1", scenarios: [ring], scenarios_sha256: ab, trials: 3, seeds: [1, 2],
    against: roce_tuned, gain_ratio: 0.1, gain_low_ratio: 0.0, gain_high_ratio: 0.2}
spec:
  flow_control: pfc
  congestion: dcqcn
  knobs: {rate_timer_s: 20us}
  ecn: {kmin_bytes: 100kB, kmax_bytes: 400kB}
"""
TRAFFIC = [{"incast": {"senders": 3, "size_bytes": "1MiB"}}]


@pytest.fixture
def tuned(tmp_path):
    path = tmp_path / "tuned.yaml"
    path.write_text(TEXT)
    return path


def test_a_tuning_is_read_with_its_record_and_written_back(tuned, tmp_path):
    found = load_tuning(tuned)
    assert "ring: 10% (0% to 20%) less time than roce_tuned" in found.found()
    again = tmp_path / "again.yaml"
    again.write_text(tuning_yaml(found, "why"))
    assert again.read_text().startswith("# why\n")
    assert load_tuning(again) == found


@pytest.mark.usefixtures("tuned")
def test_a_cluster_names_a_file_of_settings_and_keeps_them_when_shown(tmp_path):
    file = tmp_path / "cluster.yaml"
    file.write_text(
        "apiVersion: weft/v1\nkind: Cluster\n"
        "spec: {preset: hgx_h100_roce, hosts: 4, fabric: {settings: tuned.yaml}}\n"
    )
    cluster = load_cluster(file)
    assert settings_of(cluster).ecn.kmin_bytes == 100_000
    file.write_text(as_yaml(cluster))
    assert load_cluster(file) == cluster
    assert hash(cluster) == hash(load_cluster(file))


def test_a_scenario_takes_settings_from_a_file_or_from_its_cluster(tuned):
    cluster = {"preset": "hgx_h100_roce", "hosts": 4, "fabric": {"settings": str(tuned)}}
    by_cluster = load_scenario({"cluster": cluster, "traffic": TRAFFIC})
    by_preset = load_scenario(
        {"cluster": "hgx_h100_roce", "network": {"preset": str(tuned)}, "traffic": TRAFFIC}
    )
    assert by_cluster.network == by_preset.network == load_tuning(tuned).settings


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("kmin_bytes: 100kB", "kmin_bytes: 1MB", "tuned.yaml:12:21: ecn.kmin_bytes: value"),
        ("dcqcn", "dcqcm", "did you mean 'dcqcn'"),
        ("trials: 3", "trials: 0", "metadata.record.trials: value 0"),
        ("NetworkSettings", "Cluster", "tuned.yaml:3:7: kind: value 'Cluster': is not what"),
    ],
)
def test_a_wrong_file_of_settings_is_told_with_its_place(tuned, old, new, told):
    tuned.write_text(TEXT.replace(old, new))
    with pytest.raises(SpecError, match=told):
        load_tuning(tuned)


def test_settings_that_do_not_exist_are_told_with_those_that_do():
    with pytest.raises(UnknownName, match="roce_tuned"):
        load_tuning("roce_tund")
