"""Settings that a search found, in the plan and in what is rendered from it."""

import json

import pytest

from weft.cli import app
from weft.generate.plan import plan
from weft.generate.target import render
from weft.spec.load import load_cluster, load_tuning

TEXT = """
apiVersion: weft/v1
kind: NetworkSettings
metadata:
  name: mine
  record: {weft: "1", scenarios: [ring], scenarios_sha256: ab, trials: 3, seeds: [1, 2],
    against: the start, gain_ratio: 0.1, gain_low_ratio: 0.0, gain_high_ratio: 0.2}
spec:
  flow_control: pfc
  congestion: dcqcn
  at_bytes_per_s: 200Gb/s
  knobs: {rate_timer_s: 20us, minimum_rate_ratio: 0.05, gain_ratio: 0.0625,
    byte_counter_bytes: 1MB}
  ecn: {kmin_bytes: 100kB, kmax_bytes: 200kB, pmax_ratio: 0.5}
  pfc: {xoff_bytes: 1MB, xon_bytes: 900kB}
  cnp_gap_s: 16us
"""
CLUSTER = """apiVersion: weft/v1
kind: Cluster
spec: {preset: hgx_h100_roce, hosts: 16}
"""


@pytest.fixture
def tuned(tmp_path):
    path = tmp_path / "tuned.yaml"
    path.write_text(TEXT)
    return path


@pytest.fixture
def planned(tuned):
    def make(**spec):
        cluster = load_cluster({"preset": "hgx_h100_roce", "hosts": 16, **spec})
        fabric = cluster.fabric.with_(settings=load_tuning(tuned))
        return plan(cluster), plan(cluster.with_(fabric=fabric))

    return make


def test_marking_is_that_of_the_tuning_at_the_rate_of_the_links(planned):
    """Thresholds for 200 Gb/s double at 400 Gb/s, in whole KiB."""
    marking = planned()[1].marking
    assert marking.kmin_bytes.value == 200_000 // 1024 * 1024
    assert marking.kmax_bytes.value == 400_000 // 1024 * 1024
    assert marking.pmax_ratio.value == 0.5
    assert marking.kmax_bytes.source == "simulation"
    assert "tuned by simulation of ring: 10% (0% to 20%)" in marking.kmax_bytes.reason


def test_the_nic_gets_the_tuning_in_its_own_units(planned):
    """0.05 of 400 Gb/s is 20,000 Mb/s; g of 1/16 leaves 960 of 1024; 1 MB is 15,625 x 64 B."""
    nic = planned()[1].dcqcn
    assert nic.minimum_rate_mbit_per_s.value == 20_000
    assert nic.alpha_gain.value == 960
    assert nic.byte_reset.value == 15_625
    assert (nic.time_reset_us.value, nic.min_time_between_cnps_us.value) == (20, 16)


def test_marks_come_before_pauses_whatever_the_search_had(planned, tuned):
    tuned.write_text(TEXT.replace("kmax_bytes: 200kB", "kmax_bytes: 2MB"))
    marking, pause = (getattr(planned()[1], name) for name in ("marking", "pause"))
    assert marking.kmin_bytes.value < marking.kmax_bytes.value < pause.xoff_bytes.value
    assert "the search had 4000000 B" in marking.kmax_bytes.reason


def test_a_fixed_threshold_becomes_the_nearest_share_of_the_buffer(planned, tuned):
    """Alone, a port pauses at alpha B / (1 + alpha): 1 / 8 of 121.2 MB gives 13.5 MB."""
    tuned.write_text(TEXT.replace("xoff_bytes: 1MB", "xoff_bytes: 6MB"))
    plain, changed = planned()
    assert plain.pause.pool_bytes == changed.pause.pool_bytes
    pool, ports = changed.pause.pool_bytes.value, 128
    assert changed.pause.buffer_alpha.value == 1 / 8
    assert abs(pool / 9 - 12e6) < 2e6
    assert changed.pause.xoff_bytes.value == int(pool / 8 / (1 + ports / 8)) // 1024 * 1024
    assert "fixed XOFF of 12000000 B" in changed.pause.buffer_alpha.reason
    assert not changed.left_out


def test_links_go_on_in_the_proportion_that_was_found(planned):
    """XON lay a tenth under XOFF, so it does under the threshold of the plan."""
    pause = planned()[1].pause
    assert pause.xon_offset_bytes.value == int(pause.xoff_bytes.value * 0.1) // 1024 * 1024
    assert planned()[0].pause.xon_offset_bytes.value == 0


def test_a_threshold_that_no_share_of_the_buffer_comes_near_is_said(planned, tuned):
    tuned.write_text(TEXT.replace("1MB, xon_bytes: 900kB", "20kB, xon_bytes: 18kB"))
    plan = planned()[1]
    assert [one.name for one in plan.left_out] == ["pfc.xoff_bytes"]
    assert plan.pause.buffer_alpha.value == 2**-5


@pytest.mark.parametrize(("alpha", "taken"), [(0.25, 0.25), (0.3, 0.25), (0.001, 2**-5)])
def test_a_share_of_a_buffer_is_carried_as_a_power_of_two(planned, tuned, alpha, taken):
    tuned.write_text(TEXT + f"  buffer: {{shared_bytes: 64MB, alpha_ratio: {alpha}}}\n")
    assert planned()[1].pause.buffer_alpha.value == taken


def test_headroom_is_the_larger_of_what_was_found_and_the_sum(planned, tuned):
    plain = planned()[0].pause
    tuned.write_text(TEXT + "  buffer: {headroom_bytes: 20kB}\n")
    assert planned()[1].pause.headroom_bytes.value == plain.headroom_bytes.value
    assert "found with 40000 B" in planned()[1].pause.headroom_bytes.reason
    tuned.write_text(TEXT + "  buffer: {headroom_bytes: 200kB}\n")
    more = planned()[1].pause
    assert more.headroom_bytes.value == 400_384
    assert more.pool_bytes.value < plain.pool_bytes.value


def test_what_the_plan_has_no_number_for_is_left_out_and_said(planned, tuned):
    tuned.write_text(TEXT + "  balancing: spray\n  queue_pairs: 8\n  queue_limit_bytes: 1MB\n")
    names = [one.name for one in planned()[1].left_out]
    assert names == ["queue_limit_bytes", "balancing", "queue_pairs"]


def test_a_file_that_marks_nothing_leaves_the_marks_of_the_rules(planned, tuned):
    tuned.write_text("\n".join(one for one in TEXT.splitlines() if "ecn:" not in one))
    plain, changed = planned()
    assert plain.marking.kmin_bytes == changed.marking.kmin_bytes
    assert changed.marking.kmax_bytes.source == "cumulus_roce"


def test_tuned_switches_are_rendered_and_found_sound(planned, tuned, tmp_path, capsys):
    """The share and the hysteresis reach config_db.json, and lint has nothing against them."""
    tuned.write_text(TEXT.replace("xoff_bytes: 1MB", "xoff_bytes: 6MB"))
    rendered = render(planned()[1], ["sonic"])
    text = next(f.text for f in rendered.files if "leaf" in str(f.path))
    profile = json.loads(text)["BUFFER_PROFILE"]["pg_lossless_profile"]
    assert profile["dynamic_th"] == "-3"
    assert int(profile["xon_offset"]) == planned()[1].pause.xon_offset_bytes.value > 0
    out, file = tmp_path / "out", tmp_path / "c.yaml"
    file.write_text(CLUSTER)
    words = ["-f", str(file), "--tuning", str(tuned), "--out", str(out)]
    assert app.run(["render", "sonic", "linux_host", *words]) == 0
    assert app.run(["lint", str(out)]) == 0, capsys.readouterr().out


def test_a_fabric_without_dcqcn_takes_nothing_of_it(planned):
    plain, changed = planned(fabric={"kind": "infiniband"})
    assert plain.dcqcn is changed.dcqcn is None
    assert changed.marking is None
    assert [one.name for one in changed.left_out] == ["ecn", "pfc", "congestion", "knobs"]
    assert not plain.left_out


@pytest.mark.parametrize(
    ("target", "switch"),
    [("eos", "arista_7060x6_64pe"), ("cumulus", "sn5600"), ("nxos", "cisco_n9364e_sg2")],
)
def test_switches_whose_share_of_the_buffer_is_not_rendered_say_so(planned, target, switch):
    for made, said in zip(planned(topology={"switch": switch}), (False, True), strict=True):
        text = render(made, [target]).files[0].text
        assert ("Not set here: alpha" in text) is said


def test_hosts_are_rendered_with_the_least_rate(planned):
    plain, changed = planned()
    texts = ["".join(str(f) for f in render(p, ["linux_host"]).files) for p in (plain, changed)]
    assert "rpg_min_rate" not in texts[0]
    assert "echo 20000 >" in texts[1]


def test_the_command_takes_the_file(tuned, tmp_path, capsys):
    file = tmp_path / "c.yaml"
    file.write_text(CLUSTER)
    assert app.run(["plan", "-f", str(file), "--tuning", str(tuned), "--explain"]) == 0
    assert "settings mine, tuned by simulation of ring" in capsys.readouterr().out
    assert app.run(["plan", "-f", str(file), "--tuning", str(file)]) == 2
    assert f"{file}:2:7: kind: value 'Cluster'" in capsys.readouterr().err
    assert app.run(["plan", "-f", str(file), "--tuning", "tuned"]) == 2
    assert "did you mean 'roce_tuned'" in capsys.readouterr().err
