"""What is lost is sent again, whatever a scenario says or leaves out about it."""

import pytest

from weft.engines.packet.settings import REORDERED_PACKETS, options_of
from weft.predict.doubts import scenario_doubts
from weft.predict.simulate import simulate
from weft.spec.load import load_scenario

ONE = {"gpus": 1, "nic": "", "nics": 1, "server": "", "scale_up": {"gpus": 1}}


def scenario(kind="roce", traffic=None, hosts=8, **network):
    cluster = {"preset": "hgx_h100_roce", "hosts": hosts, "host": ONE, "fabric": {"kind": kind}}
    traffic = traffic or [{"permutation": {"size_bytes": "4MiB"}}]
    return load_scenario({"cluster": cluster, "traffic": traffic, "network": network})


@pytest.mark.parametrize(
    ("kind", "recovery"),
    [
        ("roce", "go_back_n"),
        ("infiniband", "selective_repeat"),
        ("ultra_ethernet", "selective_repeat"),
    ],
)
def test_damaged_frames_are_sent_again_as_the_paths_of_packets_ask_for(kind, recovery):
    """One path keeps the order, so a gap is a loss; over many paths it is none yet."""
    found = simulate(scenario(kind, bit_error_ratio=1e-8))
    assert found.complete
    assert found.settings["recovery"] == recovery
    assert found.seeds[0].counts["errors"] > 0
    assert any(f"sent again by {recovery}" in a for a in found.provenance.assumptions)


def test_links_that_repeat_frames_leave_nothing_to_send_again():
    found = simulate(scenario(bit_error_ratio=1e-8, link_retry=True))
    assert found.complete
    assert found.seeds[0].counts["resent_bytes"] == 0
    assert not any("sent again" in a for a in found.provenance.assumptions)


def test_what_a_watchdog_drops_is_sent_again():
    asked = scenario(watchdog={"action": "drop", "detection_s": "200us"})
    assert options_of(asked, 1).recovery == "go_back_n"
    assert options_of(scenario(), 1).recovery == "trim"
    named = scenario(watchdog={"action": "drop"}, recovery="selective_repeat")
    assert options_of(named, 1).recovery == "selective_repeat"


@pytest.mark.parametrize(
    ("network", "said"),
    [
        ({"buffer": {"alpha_ratio": 0.5}}, "without effect: network.buffer.alpha_ratio"),
        ({"trimming": True}, "without effect: network.trimming"),
        ({"reordering_packets": 8}, "without effect: network.reordering_packets"),
        ({"flowlet_gap_s": "1us"}, "without effect: network.flowlet_gap_s"),
        ({"credit_bytes": "64KiB"}, "without effect: network.credit_bytes"),
        (
            {"flow_control": "credits", "watchdog": {"action": "drop"}},
            "without effect: network.watchdog",
        ),
        ({"flow_control": "none", "trimming": False}, "is never sent again"),
        ({"recovery": "go_back_n", "balancing": "spray"}, "for a loss, and spray mixes"),
    ],
)
def test_a_setting_that_changes_nothing_or_little_good_is_said(network, said):
    assert any(said in one for one in scenario_doubts(scenario(**network)))
    assert not scenario_doubts(scenario())


def test_a_gap_in_sprayed_packets_is_no_loss():
    """EFA's settings spray and repeat selectively: nothing is lost, so nothing is resent."""
    topology = {"kind": "leaf_spine", "switch_ports": 32}
    asked = scenario("efa", hosts=64)
    asked = load_scenario(
        {
            "cluster": {
                "preset": "hgx_h100_roce", "hosts": 64, "host": ONE, "topology": topology,
                "fabric": {"kind": "efa"},
            },
            "traffic": [{"permutation": {"size_bytes": "2MiB"}}],
        }
    )  # fmt: skip
    assert options_of(asked, 1).reordering_packets == REORDERED_PACKETS
    counts = simulate(asked).seeds[0].counts
    assert (counts["nacks"], counts["resent_bytes"]) == (0, 0)


def tree(pieces=None, algorithm="tree"):
    one = {"operation": "broadcast", "size_bytes": "16MiB", "algorithm": algorithm}
    more = {} if pieces is None else {"pieces": pieces}
    found = simulate(scenario(traffic=[{"collective": {**one, **more}}], hosts=7))
    return found.traffic[0].completion_s.value


@pytest.mark.parametrize("pieces", [1, 4, 32])
def test_a_tree_passes_on_what_it_has_while_the_rest_comes(pieces):
    """Seven hosts, two levels: each piece p leaves a port twice, so T = 2 (S + p) c."""
    size, rate, headers = 16 * 2**20, 50e9, 1 + 82 / 4096
    formula = 2 * (size + size / pieces) * headers / rate
    assert tree(pieces) == pytest.approx(formula, rel=0.03)


def test_trees_are_cut_as_the_library_cuts_them_unless_that_is_said():
    """16 MiB in pieces of half a MiB are 32."""
    assert tree() == tree(32)


def test_a_chain_passes_on_chunk_by_chunk():
    """Of seven hosts each passes seven chunks: T = (7 + 5) / 7 S c, and a path a turn."""
    formula = 12 / 7 * 16 * 2**20 * (1 + 82 / 4096) / 50e9
    assert formula < tree(algorithm="ring") < formula + 12 * 3e-6
