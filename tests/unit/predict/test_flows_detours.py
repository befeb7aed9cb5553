"""Valiant and UGAL as the load balancing of a cluster: what they keep, and where they fit."""

import pytest

from weft.engines.packet.settings import balancing_of as balancing_of_packets
from weft.errors import WeftError
from weft.network.network import resolve
from weft.predict.flows import Pattern, share_of
from weft.predict.simulate import simulate
from weft.spec.load import load_cluster, load_scenario
from weft.spec.settings import NetworkSettings


def cluster(mode, kind="dragonfly_plus"):
    host = {
        "gpus": 1, "nics": 1, "server": "", "nic": "", "nic_bytes_per_s": "200Gb/s",
        "scale_up": {"gpus": 1},
    }  # fmt: skip
    return load_cluster({
        "preset": "hgx_h100_roce", "hosts": 144, "host": host,
        "fabric": {"kind": "slingshot", "load_balancing": mode},
        "topology": {"kind": kind, "switch_ports": 8},
    })  # fmt: skip


def pairs(mode):
    """Hosts send to those half the network away: 16 hosts of a group to two other groups."""
    return Pattern(
        cluster=cluster(mode), kind="pairs", groups=72, hosts=2, stride=72, paths=1,
        in_order=True,
    )  # fmt: skip


def test_pairs_of_far_hosts_keep_most_with_ugal():
    """Minimal: 8 hosts on the 2 links of a pair of groups. UGAL is not below Valiant."""
    minimal, valiant, ugal = (
        share_of(pairs(mode), 1) for mode in ("adaptive", "valiant", "ugal")
    )
    assert minimal == pytest.approx(2 / 8)
    assert minimal < valiant < ugal <= 1


@pytest.mark.parametrize("mode", ["ugal", "valiant"])
def test_detours_need_a_dragonfly(mode):
    with pytest.raises(WeftError, match=r"load_balancing.*needs topology.kind dragonfly_plus"):
        cluster(mode, "fat_tree")


@pytest.mark.parametrize("mode", ["ugal", "valiant"])
def test_packets_refuse_detours_and_name_flows(mode):
    asked = cluster(mode)
    fabric = resolve(asked).fabric
    with pytest.raises(WeftError, match="--fidelity flow"):
        balancing_of_packets(NetworkSettings(), asked, fabric)
    named = NetworkSettings(balancing="adaptive")
    assert balancing_of_packets(named, asked, fabric) == "adaptive"


def next_group_s(mode, faults=(), **network):
    """Each of 9 groups of 16 hosts sends all to the next one, 2 links to every other group."""
    sends = [
        {"source": host, "target": (host + 16) % 144, "size_bytes": "4MiB"}
        for host in range(144)
    ]
    asked = load_scenario({
        "cluster": {
            "preset": "hgx_h100_roce", "hosts": 144,
            "host": {
                "gpus": 1, "nics": 1, "server": "", "nic": "", "nic_bytes_per_s": "200Gb/s",
                "scale_up": {"gpus": 1},
            },
            "fabric": {"kind": "slingshot", "load_balancing": mode},
            "topology": {"kind": "dragonfly_plus", "switch_ports": 8},
        },
        "traffic": [{"flows": {"flows": sends}}], "faults": list(faults), "network": network,
    })  # fmt: skip
    return simulate(asked, fidelity="flow").traffic[0].completion_s.value


def test_scenarios_take_detours_as_predictions_do():
    """Minimal L / H = 2 / 16, Valiant L (g - 2) / 2 H = 7 / 16, UGAL between it and 9 / 16."""
    minimal, valiant, ugal = (next_group_s(mode) for mode in ("adaptive", "valiant", "ugal"))
    assert minimal / valiant == pytest.approx((7 / 16) / (2 / 16), rel=0.02)
    assert (7 / 16) / (2 / 16) < minimal / ugal <= (9 / 16) / (2 / 16)
    assert next_group_s("valiant", ["leaf_link_down"]) > 1.1 * valiant


def test_settings_of_a_scenario_win_over_the_detours_of_its_fabric():
    assert next_group_s("ugal", balancing="adaptive") == next_group_s("adaptive")
