"""PXN: which clusters have it, which NICs sends take, and what it leaves of an exchange."""

import numpy as np
import pytest

from weft.errors import Infeasible
from weft.network.graph import LEAF_SPINE
from weft.network.network import graph
from weft.predict.collective import expect
from weft.predict.flows import FLOW_ENGINE, share_of
from weft.predict.simulate import compile_traffic, scenario_fabric, simulate
from weft.spec.load import load_cluster, load_scenario
from weft.traffic import pxn
from weft.traffic.collective import Group, Operation

OFF = {"nccl": {"env": {"NCCL_PXN_DISABLE": "1"}}}
ALL = Operation.ALL_TO_ALL, Group(ranks=512, ranks_per_domain=8)
LARGE = {"smallest_bytes": 1 << 30, "largest_bytes": 1 << 30}


def rails(oversubscription=1, kind="rail_optimized", hosts=64, mode="adaptive", **more):
    """64 hosts of 8 GPUs and 8 NICs on 8 leaves, a leaf a rail."""
    return load_cluster({
        "preset": "hgx_h100_roce", "hosts": hosts, "fabric": {"load_balancing": mode},
        "topology": {"kind": kind, "oversubscription": oversubscription}, **more,
    })  # fmt: skip


def shares(cluster, seeds=(1, 2, 3)):
    """Return what flows of the exchange keep of the NICs; the same hosts, seed by seed."""
    pattern, _ = FLOW_ENGINE.key(cluster, *ALL)
    return [share_of(pattern, seed) for seed in seeds]


@pytest.mark.parametrize(
    ("more", "used"),
    [
        ({}, True),
        (OFF, False),
        ({"nccl": {"env": {"NCCL_P2P_PXN_LEVEL": "0"}}}, False),
        ({"nccl": {"version": "2.11.4"}}, False),
        ({"host": {"scale_up": {"kind": "pcie"}}}, False),
        ({"host": {"scale_up": {"kind": "xgmi"}}}, False),
        ({"host": {"scale_up": {"kind": "xgmi"}}, "nccl": {"env": {"NCCL_PXN_DISABLE": "0"}}},
         True),
        ({"host": {"scale_up": {"kind": "xgmi"}}, "topology": {"kind": "rail_only"}}, True),
    ],
)  # fmt: skip
def test_release_links_and_variables_decide(more, used):
    assert pxn.is_used(load_cluster({"preset": "hgx_h100_roce", "hosts": 4, **more})) is used


def test_with_it_an_exchange_of_one_unit_leaves_no_leaf_and_uplinks_do_not_matter():
    assert shares(rails()) == shares(rails(oversubscription=7)) == [pytest.approx(1.0)] * 3


def test_without_it_seven_of_eight_parts_share_the_uplinks():
    """A leaf of D ports has U uplinks: (7 / 8) D c r = U c, so r = U / (7 / 8 D)."""
    cluster = rails(oversubscription=3, **OFF)
    network = graph(cluster)
    first = network.first[0]
    ports = int((network.leaf_of[:, 0] == first).sum())
    uplinks = int(((network.source == first) & (network.layer == LEAF_SPINE)).sum())
    assert np.mean(shares(cluster)) == pytest.approx(uplinks / (7 / 8 * ports), rel=0.05)


def test_a_full_network_that_spreads_needs_no_rails_and_one_that_hashes_does():
    """Published beside it: rail-aligned 43.7, across rails 20.1 GB/s a GPU (f0055, EFA)."""
    assert shares(rails(**OFF)) == [pytest.approx(1.0)] * 3
    hashed = max(shares(rails(mode="ecmp", **OFF)))
    assert shares(rails(mode="ecmp")) == [pytest.approx(1.0)] * 3
    assert hashed < 0.8


def test_rails_that_are_not_joined_keep_what_joined_ones_do():
    """Published: with PXN within 1.5 % on both kinds of network, 16 to 128 GPUs (f0042)."""
    apart, joined = (
        expect(rails(kind=kind, hosts=16), "alltoall", fidelity="flow", **LARGE)
        for kind in ("rail_only", "rail_optimized")
    )
    busbw = [one.peak_busbw_bytes_per_s.value for one in (apart, joined)]
    assert busbw[0] == pytest.approx(busbw[1], rel=0.015)


@pytest.mark.parametrize("fidelity", ["analytic", "flow"])
def test_rails_that_are_not_joined_refuse_an_exchange_without_it(fidelity):
    with pytest.raises(Infeasible, match="rail"):
        expect(rails(kind="rail_only", **OFF), "alltoall", fidelity=fidelity, **LARGE)
    assert expect(rails(kind="rail_only", **OFF), "all_reduce", fidelity=fidelity, **LARGE)


@pytest.mark.parametrize("fidelity", ["analytic", "flow"])
@pytest.mark.parametrize("kind", ["rail_optimized", "leaf_spine"])
def test_the_knob_changes_an_exchange_where_rails_have_leaves_of_their_own(kind, fidelity):
    with_it, without = (
        expect(rails(3, kind, mode="ecmp", **more), "alltoall", fidelity=fidelity, **LARGE)
        for more in ({}, OFF)
    )
    busbw = [one.peak_busbw_bytes_per_s.value for one in (with_it, without)]
    if kind == "rail_optimized":
        assert busbw[1] < 0.7 * busbw[0]
        assert any("without PXN 8" in one for one in without.provenance.assumptions)
    elif fidelity == "analytic":
        assert busbw[1] == busbw[0]


def test_an_all_reduce_keeps_to_its_rails_either_way():
    for fidelity in ("analytic", "flow"):
        found = [
            expect(rails(3, **more), fidelity=fidelity, **LARGE).points for more in ({}, OFF)
        ]
        assert found[0][0].time_s == found[1][0].time_s


def exchange(**more):
    cluster = {
        "preset": "hgx_h100_roce", "hosts": 16,
        "host": {"gpus": 4, "nics": 4, "server": "", "scale_up": {"gpus": 4}},
        "topology": {"switch_ports": 32, "oversubscription": 3}, **more,
    }  # fmt: skip
    traffic = [{"collective": {"operation": "alltoall", "size_bytes": "4MiB"}}]
    return load_scenario({
        "cluster": cluster, "traffic": traffic,
        "network": {"balancing": "adaptive", "congestion": "none"},
    })  # fmt: skip


def test_sends_of_a_scenario_keep_to_the_rail_of_the_receiver():
    scenario = exchange()
    schedule = compile_traffic(scenario_fabric(scenario), scenario, 1)
    source, target = schedule.flows.source[schedule.real], schedule.flows.target[schedule.real]
    assert (source % 4 == target % 4).all()
    assert len(source) == 64 * 60
    assert (~schedule.real).sum() == 64 * 3 + 64  # within hosts, and one hand-over a GPU
    assert (np.bincount(source) == 60).all()  # no NIC has more to send than another


def test_without_it_a_gpu_sends_from_its_own_nic():
    scenario = exchange(**OFF)
    schedule = compile_traffic(scenario_fabric(scenario), scenario, 1)
    source, target = schedule.flows.source[schedule.real], schedule.flows.target[schedule.real]
    assert (source % 4 != target % 4).mean() == pytest.approx(3 / 4)


@pytest.mark.parametrize("fidelity", ["flow", "packet"])
def test_the_knob_changes_the_rates_of_a_scenario(fidelity):
    """Three of four parts leave the leaf of 16 ports, whose uplinks are a third of them."""
    took_s = [
        simulate(exchange(**more), fidelity=fidelity).traffic[0].completion_s.value
        for more in ({}, OFF)
    ]
    wiring = graph(exchange().cluster)
    uplinks = int(((wiring.source == wiring.first[0]) & (wiring.layer == LEAF_SPINE)).sum())
    assert took_s[1] / took_s[0] == pytest.approx(3 / 4 * 16 / uplinks, rel=0.1)
