"""`weft tune` from the words typed to the files written."""

import json

import pytest

from weft.cli import app

SCENARIO = """
apiVersion: weft/v1
kind: Scenario
metadata: {name: small}
spec:
  cluster:
    preset: hgx_h100_roce
    hosts: 4
    host: {server: "", gpus: 1, nics: 1, scale_up: {gpus: 1}}
  network: {preset: roce_default}
  traffic:
    - incast: {senders: 3, size_bytes: 2MiB}
"""
CLUSTER = """
apiVersion: weft/v1
kind: Cluster
spec:
  preset: hgx_h100_roce
  hosts: 4
"""


@pytest.fixture
def words(tmp_path):
    (tmp_path / "s.yaml").write_text(SCENARIO)
    return ["tune", str(tmp_path / "s.yaml"), "--trials", "4", "--seeds", "1"]


def test_a_search_shows_a_table_writes_settings_and_draws(words, tmp_path, capsys):
    saved, front = tmp_path / "best.yaml", tmp_path / "front.svg"
    more = ["--save", str(saved), "--chart", f"front={front}", "--knob", "kmin_bytes"]
    assert app.run([*words, *more]) == 0
    shown = capsys.readouterr().out
    assert "Tuned for small" in shown
    assert f"Writtento{saved};" in "".join(shown.split())  # lines are wrapped
    assert "Effect of each knob" in shown or "nothing better" in shown
    assert "kind: NetworkSettings" in saved.read_text()
    assert "name: best" in saved.read_text()
    assert front.read_text().startswith("<svg")


def test_a_result_is_read_by_machines(words, capsys):
    assert app.run([*words, "--knob", "kmin_bytes", "-o", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["provenance"]["engine"] == "packet"
    assert len(found["trials"]) == 4


def test_a_cluster_gets_traffic_of_its_own(tmp_path, capsys):
    (tmp_path / "c.yaml").write_text(CLUSTER)
    words = ["tune", str(tmp_path / "c.yaml"), "--trials", "2", "--seeds", "1"]
    assert app.run([*words, "--knob", "kmin_bytes", "--full"]) == 0
    shown = capsys.readouterr().out
    assert "Tuned for ring, alltoall, incast" in shown
    assert "one of 8 rails that are alike was simulated, 4 NICs" in shown


def test_names_are_listed_and_wrong_words_told(words, tmp_path, capsys):
    assert app.run(["tune", words[1], "--knob", "list"]) == 0
    assert "kmax_over_kmin_ratio" in capsys.readouterr().out
    (tmp_path / "c.yaml").write_text(CLUSTER)
    assert app.run([*words, str(tmp_path / "c.yaml")]) == 2
    assert "one of them a cluster" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("option", "known"), [("--knob", "kmin_bytes"), ("--objective", "fairness_ratio")]
)
def test_names_are_listed_without_a_scenario(option, known, capsys):
    assert app.run(["tune", option, "list"]) == 0
    assert known in capsys.readouterr().out.split()


def test_without_a_scenario_nothing_is_tuned(capsys):
    assert app.run(["tune"]) == 2
    assert "no scenario is given" in capsys.readouterr().err
