"""Scenarios: every example and named tuning loads, and says what it means."""

import re
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from ruamel.yaml import YAML

from weft import plugins
from weft.engines.packet import patterns
from weft.errors import SpecError
from weft.spec.load import load_documents, load_scenario, tunings
from weft.spec.scenario import TrafficItem
from weft.spec.schema import schema
from weft.spec.show import as_yaml, document

ROOT = Path(__file__).parents[3]
EXAMPLES = sorted((ROOT / "examples" / "scenarios").glob("*.yaml"))
INCAST = {"incast": {"senders": 3, "size_bytes": "1MiB"}}


def scenario(**more):
    return load_scenario({"cluster": "hgx_h100_roce", "traffic": [INCAST], **more})


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_loads_and_fits_the_schema(path):
    assert load_documents(path)[0] == load_scenario(path)
    written = YAML(typ="safe").load(path.read_text())
    Draft202012Validator(schema("scenario")).validate(written)


def test_the_scenario_of_the_how_to_loads(tmp_path):
    page = (ROOT / "docs" / "how-to" / "simulate-an-incast.md").read_text()
    (tmp_path / "s.yaml").write_text(re.search(r"```yaml\n(.*?)```", page, re.DOTALL)[1])
    assert load_scenario(tmp_path / "s.yaml").network.ecn.kmin_bytes == 200_000


def test_what_is_shown_loads_again(tmp_path):
    one = load_scenario(EXAMPLES[0])
    (tmp_path / "again.yaml").write_text(as_yaml(one))
    assert load_scenario(tmp_path / "again.yaml") == one
    Draft202012Validator(schema("scenario")).validate(document(one))


def test_every_kind_of_traffic_has_a_pattern_that_makes_it():
    assert set(TrafficItem.model_fields) == set(plugins.names(patterns))


@pytest.mark.parametrize("name", tunings())
def test_every_tuning_loads_and_is_laid_under_what_is_written(name):
    plain = scenario(network={"preset": name}).network
    assert plain.flow_control
    assert scenario(network={"preset": name, "balancing": "spray"}).network == plain.with_(
        balancing="spray"
    )


@pytest.mark.parametrize(
    ("fabric", "tuning"),
    [
        ({"kind": "roce"}, "roce_tuned"),
        ({"kind": "roce", "tuning": "misconfigured"}, "roce_misconfigured"),
        ({"kind": "infiniband"}, "infiniband"),
        ({"kind": "ultra_ethernet"}, "ultra_ethernet"),
    ],
)
def test_the_fabric_of_the_cluster_names_the_settings(fabric, tuning):
    nic = "pollara" if fabric["kind"] == "ultra_ethernet" else "connectx7"
    cluster = {"preset": "hgx_h100_roce", "fabric": fabric, "host": {"nic": nic}}
    assert scenario(cluster=cluster).network == scenario(network={"preset": tuning}).network


def test_the_load_balancing_of_the_cluster_comes_before_that_of_its_own_settings():
    """What is written under network comes before both; settings named there are whole."""
    fabric = {"kind": "infiniband", "load_balancing": "static"}
    cluster = {"preset": "hgx_h100_roce", "fabric": fabric}
    assert scenario(cluster=cluster).network.balancing is None
    own = scenario(cluster=cluster, network={"balancing": "spray"}).network
    assert own.balancing == "spray"
    named = scenario(cluster=cluster, network={"preset": "infiniband"}).network
    assert named.balancing == "adaptive"


def test_a_cluster_can_be_a_file_beside_the_scenario(tmp_path):
    (tmp_path / "c.yaml").write_text(
        "apiVersion: weft/v1\nkind: Cluster\nspec: {preset: dgx_h100, hosts: 5}\n"
    )
    text = (
        "apiVersion: weft/v1\nkind: Scenario\nspec:\n  cluster: c.yaml\n  traffic:\n"
        "    - permutation: {size_bytes: 1MiB}\n"
    )
    (tmp_path / "s.yaml").write_text(text)
    assert load_scenario(tmp_path / "s.yaml").cluster.hosts == 5


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"network": {"preset": "roce_tund"}}, "network.preset.*did you mean 'roce_tuned'"),
        ({"network": {"balancing": "sprey"}}, "network.balancing.*did you mean 'spray'"),
        ({"network": {"congestion": "dcqn"}}, "network.congestion.*did you mean 'dcqcn'"),
        ({"cluster": "dgx_h10"}, "cluster.preset.*is unknown"),
        ({"traffic": []}, "traffic: must hold at least one entry"),
        ({"seeds": [1, 2, 1]}, "seeds.2: value 1: is there before"),
        (
            {"traffic": [{"permutation": {"size_bytes": "1MiB", "hosts": 99}}]},
            "traffic.0.permutation.hosts: value 99: must be 2 to",
        ),
        (
            {"traffic": [{"permutation": {"size_bytes": "1MiB", "gpus_per_host": 9}}]},
            "gpus_per_host: value 9: is more than a host has",
        ),
        (
            {
                "traffic": [
                    {
                        "background": {
                            "load_ratio": 0.1,
                            "size_bytes": "1MiB",
                            "duration_s": "1ms",
                            "storage_hosts": 99,
                        }
                    }
                ]
            },
            "background.storage_hosts: value 99: must leave a host that sends",
        ),
        ({"traffic": [{}]}, "traffic.0: must have exactly one kind of traffic"),
        (
            {"network": {"pfc": {"xoff_bytes": "1MB", "xon_bytes": "2MB"}}},
            "network.pfc.xon_bytes.*not be above",
        ),
    ],
)
def test_a_mistake_is_told_at_its_key(more, told):
    with pytest.raises(SpecError, match=told):
        scenario(**more)


def test_set_changes_one_entry_of_a_list_and_leaves_the_rest():
    path = ROOT / "examples" / "scenarios" / "static-routes.yaml"
    plain = load_scenario(path)
    sets = ["traffic.1.permutation.pattern=shift", "seeds.0=9"]
    changed = load_scenario(path, sets)
    assert changed.traffic[0] == plain.traffic[0]
    wanted = plain.traffic[1].permutation.with_(pattern="shift")
    assert changed.traffic[1].permutation == wanted
    assert changed.seeds == (9, *plain.seeds[1:])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("traffic.2.permutation.pattern=shift", r"traffic: value '2': is no place .* 0 to 1,"),
        ("traffic.-1.permutation.pattern=shift", r"traffic: value '-1': is no place"),
        ("traffic.permutation.pattern=shift", r"traffic: value 'permutation': is no place"),
        (f"traffic.{'9' * 5000}.x=1", r"traffic: value '9+\.\.\.: is no place"),
        ("network.classes.0.weight=2", r"network\.classes: holds no list here .* whole list"),
        (
            "traffic.1.permutation.sizes=1",
            r"^--set .*traffic\.1\.permutation\.sizes: is unknown",
        ),
        ("traffic.1.incast.senders=3", r"traffic\.1\.incast\.size_bytes: is missing"),
    ],
    ids=lambda text: text[:30],
)
def test_set_names_what_is_wrong_with_a_place_in_a_list(text, said):
    path = ROOT / "examples" / "scenarios" / "static-routes.yaml"
    with pytest.raises(SpecError, match=said):
        load_scenario(path, [text])
