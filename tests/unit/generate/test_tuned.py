"""Settings that a search found, in the plan and in what is rendered from it."""

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


def test_headroom_and_pools_stay_with_the_rules(planned):
    plain, changed = planned()
    assert plain.pause.headroom_bytes == changed.pause.headroom_bytes
    assert plain.pause.pool_bytes == changed.pause.pool_bytes
    assert "fixed XOFF of 2000000 B" in changed.pause.xoff_bytes.reason


def test_a_fabric_without_dcqcn_takes_nothing_of_it(planned):
    plain, changed = planned(fabric={"kind": "infiniband"})
    assert plain.dcqcn is changed.dcqcn is None
    assert changed.marking is None


def test_hosts_are_rendered_with_the_least_rate(planned):
    plain, changed = planned()
    texts = ["".join(str(f) for f in render(p, ["linux_host"]).files) for p in (plain, changed)]
    assert "rpg_min_rate" not in texts[0]
    assert "echo 20000 >" in texts[1]


def test_the_command_takes_the_file(tuned, tmp_path, capsys):
    file = tmp_path / "c.yaml"
    spec = "{preset: hgx_h100_roce, hosts: 16}"
    file.write_text(f"apiVersion: weft/v1\nkind: Cluster\nspec: {spec}\n")
    assert app.run(["plan", "-f", str(file), "--tuning", str(tuned), "--explain"]) == 0
    assert "settings mine, tuned by simulation of ring" in capsys.readouterr().out
