"""`weft simulate` from the words typed to its exit code."""

import json
from types import SimpleNamespace

import pytest

from weft.cli import app
from weft.cli.watch import line, progress

SCENARIO = """
apiVersion: weft/v1
kind: Scenario
metadata: {name: small}
spec:
  cluster: {preset: hgx_h100_roce, hosts: 4}
  traffic:
    - incast: {senders: 3, size_bytes: 1MiB}
"""


@pytest.fixture
def scenario(tmp_path):
    path = tmp_path / "scenario.yaml"
    path.write_text(SCENARIO)
    return str(path)


def test_a_scenario_that_ends_leaves_with_zero_and_one_that_does_not_with_five(
    scenario, capsys
):
    assert app.run(["simulate", scenario]) == 0
    assert "Simulation of small" in capsys.readouterr().out
    assert app.run(["simulate", scenario, "--set", "until_s=5us"]) == 5
    assert "some traffic had not ended" in capsys.readouterr().out


def test_seeds_and_settings_of_the_command_line_are_laid_over_the_file(scenario, capsys):
    words = ["simulate", scenario, "--seeds", "2", "--set", "network.balancing=spray"]
    assert app.run([*words, "-o", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [one["seed"] for one in document["seeds"]] == [1, 2]
    assert document["settings"]["balancing"] == "spray"
    assert document["provenance"]["engine"] == "packet"


def test_several_files_run_side_by_side(scenario, tmp_path, capsys):
    other = tmp_path / "other.yaml"
    other.write_text(SCENARIO.replace("name: small", "name: other"))
    assert app.run(["simulate", scenario, str(other), "--seeds", "2"]) == 0
    shown = capsys.readouterr().out
    assert "Simulations of small, other" in shown
    assert "Completions over seeds" in shown
    assert app.run(["simulate", scenario, str(other), "--set", "until_s=5us"]) == 5
    assert "no: small, other did not end" in capsys.readouterr().out


def test_a_chart_that_there_is_not_is_told_before_anything_is_simulated(
    scenario, capsys, monkeypatch
):
    monkeypatch.setattr("weft.api.sweep", None)
    assert app.run(["simulate", scenario, "--chart", "tail=x.svg"]) == 2
    assert "called 'tail'; there are: timeline, slowdown, queue" in capsys.readouterr().err
    assert app.run(["simulate", scenario, scenario, "--chart", "x.svg"]) == 2
    assert "no chart; remove --chart" in capsys.readouterr().err


def test_a_result_without_the_picture_asked_for_is_still_shown(scenario, tmp_path, capsys):
    """Nothing was sent in a nanosecond, so there is nothing to draw; the tables stay."""
    words = ["--set", "until_s=1ns", "--chart", f"timeline={tmp_path}/f.svg"]
    assert app.run(["simulate", scenario, *words]) == 2
    shown = capsys.readouterr()
    assert "Simulation of small" in shown.out
    assert "this result has no chart" in shown.err


def test_traffic_of_too_many_flows_is_refused_before_it_fills_the_memory(
    scenario, capsys, monkeypatch
):
    """A ring of 32 ranks sends 32 times in each of 31 rounds, on each of 8 channels."""
    asked = "traffic=[{collective: {operation: all_gather, size_bytes: 64MiB}}]"
    monkeypatch.setattr("weft.engines.packet.rounds.MOST_FLOWS", 32 * 31 * 8)
    assert app.run(["simulate", scenario, "--set", asked]) == 0
    monkeypatch.setattr("weft.engines.packet.rounds.MOST_FLOWS", 32 * 31 * 8 - 1)
    assert app.run(["simulate", scenario, "--set", asked]) == 2
    assert "flows; simulate fewer ranks" in capsys.readouterr().err


def test_the_timeline_says_of_how_many_flows_it_draws_a_part(scenario, tmp_path):
    many = "traffic=[{incast: {senders: 3, size_bytes: 16KiB, repeat: 100}}]"
    picture = tmp_path / "flows.svg"
    words = ["--set", many, "--chart", f"timeline={picture}"]
    assert app.run(["simulate", scenario, *words]) == 0
    assert "200 of 300 flows, the first to begin on top" in picture.read_text()


def test_seeds_of_one_scenario_show_their_spread(scenario, capsys):
    assert app.run(["simulate", scenario, "--seeds", "3", "--full"]) == 0
    assert "Spread over seeds" in capsys.readouterr().out


def test_a_wrong_scenario_is_told_with_its_line(scenario, capsys):
    assert app.run(["simulate", scenario, "--set", "network.balancing=sprey"]) == 2
    assert "did you mean 'spray'" in capsys.readouterr().err


def test_progress_says_how_far_and_how_long_and_what_the_wait_is_for():
    going = SimpleNamespace(
        done_ratio=0.25,
        simulated_s=1e-3,
        elapsed_s=2.0,
        left_s=6.0,
        seeds_done=1,
        seeds=4,
        seeds_begun=2,
    )
    assert line(going) == "25% of the packets, 1 ms simulated, 1 of 4 seeds, 6 s left"
    waiting = SimpleNamespace(
        done_ratio=0.0,
        simulated_s=0,
        elapsed_s=5.0,
        left_s=None,
        seeds_done=0,
        seeds=1,
        seeds_begun=1,
    )
    assert "compiles the simulator" in line(waiting)
    waiting.seeds_begun = 0
    assert line(waiting) == "laying out the traffic as flows, 5 s ..."


def test_nothing_is_written_where_nobody_watches(capsys):
    with progress("simulating") as say:
        say("half of it")
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("words", [["--out", "/nowhere/x"], ["--chart", "x.pdf"]])
def test_a_result_with_no_place_is_refused_before_it_is_simulated(
    words, scenario, capsys, monkeypatch
):
    monkeypatch.setattr("weft.api.sweep", None)
    assert app.run(["simulate", str(scenario), *words]) in (2, 3)
    assert words[1] in capsys.readouterr().err
