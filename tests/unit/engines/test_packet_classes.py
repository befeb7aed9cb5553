"""Traffic classes: queues, pauses, credits, marks and buffers of their own on one port."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from weft.engines.packet.pauses import pause_tree, victims
from weft.engines.packet.simulation import Flows, Options, Stall, TrafficClass, simulate
from weft.engines.packet.tables import FlowControl
from weft.engines.packet.wiring import leaf_spine, shortest_routes
from weft.errors import SpecError

PS_PER_BYTE = 20
PROPAGATION = 500_000
MTU = 4096
FRAME = MTU * PS_PER_BYTE
LATENCY = 3 * (FRAME + PROPAGATION) + PROPAGATION
MIB = 1 << 20
US = 1_000_000


def network(hosts: int):
    leaves, per_leaf, spines = {4: (2, 2, 2), 16: (4, 4, 4)}[hosts]
    return leaf_spine(
        leaves=leaves, hosts_per_leaf=per_leaf, spines=spines,
        bytes_per_s=50e9, propagation_s=500e-9,
    )  # fmt: skip


def flows(source, target, size_bytes, traffic_class):
    source = np.asarray(source)
    return Flows(
        source=source,
        target=np.asarray(target),
        size_bytes=np.broadcast_to(np.asarray(size_bytes), source.shape).astype(np.int64),
        traffic_class=np.asarray(traffic_class),
    )


def classes(*weights, **options):
    each = tuple(TrafficClass(weight=weight) for weight in weights)
    return Options(classes=each, **options)


def by_class(outcome, field):
    return getattr(outcome.links, field).reshape(outcome.classes, -1)


@pytest.mark.parametrize("weights", [(3, 1), (1, 1), (5, 2), (4, 2, 1)])
@pytest.mark.parametrize("where", ["at the switch", "at the NIC"])
@pytest.mark.parametrize("flow_control", list(FlowControl))
def test_classes_share_a_port_by_their_weights(weights, where, flow_control):
    """Bytes in proportion to weights end together: T = sum S/C + 3 (F/C + d) + d."""
    count = len(weights)
    source = np.zeros(count, int) if where == "at the NIC" else np.arange(4, 4 + count)
    sizes = [weight * MIB for weight in weights]
    work = flows(source, np.full(count, 15), sizes, np.arange(count))
    outcome = simulate(network(16), work, classes(*weights, flow_control=flow_control))
    assert outcome.end_ps.max() == sum(sizes) * PS_PER_BYTE + LATENCY
    round_ps = sum(weights) / min(weights) * FRAME
    assert outcome.end_ps.max() - outcome.end_ps.min() <= 2 * round_ps
    assert outcome.counts["drops"] == outcome.counts["trims"] == 0


def test_what_a_class_does_not_use_the_others_get():
    """Weights 1 and 9, but the second sends nothing: the first has the whole link."""
    work = flows([4], [15], MIB, [0])
    outcome = simulate(network(16), work, classes(1, 9))
    assert outcome.completion_ps == MIB * PS_PER_BYTE + LATENCY


def test_strict_priority_starves_the_class_below():
    """The upper class waits for at most a frame of the lower one at each of its links."""
    options = Options(classes=(TrafficClass(), TrafficClass(priority=1)))
    work = flows([4, 5], [15, 15], 8 * MIB, [0, 1])
    outcome = simulate(network(16), work, options)
    alone = 8 * MIB * PS_PER_BYTE + LATENCY
    low, high = outcome.end_ps
    assert alone <= high <= alone + 4 * FRAME
    assert low == 16 * MIB * PS_PER_BYTE + LATENCY
    early = simulate(network(16), work, options, until_ps=int(high))
    assert early.received_bytes[0] <= 2 * MTU


def test_priorities_come_before_weights():
    """Of three classes the top one is served first; the others share what is left 3 : 1."""
    each = (TrafficClass(priority=2), TrafficClass(weight=3), TrafficClass(weight=1))
    work = flows([4, 5, 6], [15] * 3, [4 * MIB, 3 * MIB, MIB], [0, 1, 2])
    end = simulate(network(16), work, Options(classes=each)).end_ps
    assert end[0] <= 4 * MIB * PS_PER_BYTE + LATENCY + 4 * FRAME
    assert end.max() == 8 * MIB * PS_PER_BYTE + LATENCY
    assert end[1:].max() - end[1:].min() <= 2 * 4 * FRAME


def test_flows_of_one_class_take_turns_whatever_other_classes_do():
    """Two flows of a class at one NIC, beside a third of another class: halves of a half."""
    work = flows([0, 0, 0], [15, 15, 15], [2 * MIB, MIB, MIB], [0, 1, 1])
    end = simulate(network(16), work, classes(1, 1)).end_ps
    assert end.max() == 4 * MIB * PS_PER_BYTE + LATENCY
    assert end.max() - end.min() <= 4 * FRAME


@pytest.mark.parametrize("flow_control", list(FlowControl))
@pytest.mark.parametrize("congestion", ["none", "dcqcn", "dctcp"])
def test_a_class_that_nobody_uses_changes_no_time(flow_control, congestion):
    plain = Options(
        flow_control=flow_control, congestion=congestion, balancing="adaptive",
        kmin_bytes=40_000, kmax_bytes=160_000, queue_limit_bytes=400_000,
    )  # fmt: skip
    split = replace(plain, classes=(TrafficClass(), TrafficClass()))
    work = flows(np.arange(4, 16), np.zeros(12, int), MIB, np.zeros(12, int))
    one, two = (simulate(network(16), work, options) for options in (plain, split))
    assert (one.end_ps == two.end_ps).all()
    same = ("data_hops", "control_hops", "marks", "pauses", "trims", "cnps")
    assert [one.counts[name] for name in same] == [two.counts[name] for name in same]


STORM = flows([4, 5, 6, 7, 4, 5], [0, 0, 0, 0, 8, 9], 4 * MIB, [0, 0, 0, 0, 1, 1])


def test_a_storm_in_one_class_pauses_no_other():
    """Host 0 takes nothing of class 0 for 2 ms; class 1 has the wires to itself."""
    stall = Stall(host=0, begin_ps=0, end_ps=2000 * US, traffic_class=0)
    apart = simulate(network(16), STORM, classes(1, 1, stalls=(stall,)))
    together = replace(STORM, traffic_class=np.zeros(6, np.int64))
    mixed = simulate(network(16), together, classes(1, 1, stalls=(stall,)))
    assert apart.end_ps[:4].min() > 2000 * US
    alone = 4 * MIB * PS_PER_BYTE + LATENCY
    held_bytes = by_class(apart, "largest_queue_bytes")[0].sum()
    assert apart.end_ps[4:].max() < alone + held_bytes * PS_PER_BYTE
    assert mixed.end_ps[4:].min() > 2000 * US
    assert (by_class(apart, "paused_total")[1] == 0).all()
    assert by_class(apart, "paused_total")[0].max() >= 2000 * US


def test_the_tree_of_pauses_is_one_of_lanes():
    wiring = network(16)
    stall = Stall(host=0, begin_ps=0, end_ps=2000 * US, traffic_class=1)
    work = replace(STORM, traffic_class=1 - STORM.traffic_class)
    tree = pause_tree(simulate(wiring, work, classes(1, 1, stalls=(stall,))))
    links = len(wiring.source)
    assert tree.roots[0] == links + shortest_routes(wiring).last_link[0]
    assert {lane // links for pair in tree.edges for lane in pair} == {1}
    assert len(victims(tree, wiring, work)) == 0
    together = replace(STORM, traffic_class=np.ones(6, np.int64))
    tree = pause_tree(simulate(wiring, together, classes(1, 1, stalls=(stall,))))
    assert set(victims(tree, wiring, together)) == {4, 5}


LOSSY = Options(
    flow_control=FlowControl.NONE, recovery="go_back_n", congestion="dctcp",
    queue_limit_bytes=200_000, kmin_bytes=50_000, kmax_bytes=100_000, timeout_ps=2000 * US,
)  # fmt: skip


def test_a_lossy_and_a_lossless_class_share_a_port():
    """Only the lossy one drops, only the lossless one pauses, and both get all across."""
    lossless = Options(xoff_bytes=100_000, xon_bytes=90_000)
    each = (TrafficClass(), TrafficClass(options=replace(LOSSY, congestion="none")))
    work = flows(np.arange(4, 16), np.zeros(12, int), MIB, np.arange(12) % 2)
    outcome = simulate(network(16), work, replace(lossless, classes=each))
    assert (outcome.received_bytes == MIB).all()
    assert (by_class(outcome, "drops")[0] == 0).all()
    assert by_class(outcome, "drops")[1].sum() == outcome.counts["drops"] > 0
    assert by_class(outcome, "pauses")[0].sum() > 0
    assert (by_class(outcome, "pauses")[1] == 0).all()
    assert outcome.counts["packets_alive"] == 0
    assert (outcome.links.ingress_bytes == 0).all()


def test_each_class_has_its_own_congestion_control_and_marks():
    each = (TrafficClass(), TrafficClass(options=LOSSY))
    work = flows(np.arange(4, 8), np.zeros(4, int), 4 * MIB, [0, 0, 1, 1])
    outcome = simulate(network(16), work, Options(classes=each))
    marks = by_class(outcome, "marks")
    assert marks[0].sum() == 0
    assert marks[1].sum() == outcome.counts["marks"] > 0
    longest = by_class(outcome, "largest_queue_bytes").max(axis=1)
    assert longest[1] <= 200_000 < longest[0]


@pytest.mark.parametrize("alphas", [(1.0, 1.0), (2.0, 0.5), (8.0, 1.0)])
def test_queues_of_a_shared_buffer_settle_where_their_alphas_say(alphas):
    """q_i = alpha_i B / (1 + sum alpha). [Choudhury & Hahne, ToN 1998, eq. 4]"""
    buffer_bytes = 2_000_000
    base = Options(flow_control=FlowControl.NONE, shared_buffer_bytes=buffer_bytes)
    each = tuple(TrafficClass(options=replace(base, alpha_ratio=one)) for one in alphas)
    work = flows([1, 2, 3, 4], [0, 0, 0, 0], 64 * MIB, [0, 0, 1, 1])
    outcome = simulate(
        network(16), work, replace(base, classes=each), until_ps=2000 * US
    )  # fmt: skip
    to_host = shortest_routes(network(16)).last_link[0]
    queues = by_class(outcome, "queue_bytes")[:, to_host]
    expected = [alpha * buffer_bytes / (1 + sum(alphas)) for alpha in alphas]
    assert queues == pytest.approx(expected, abs=4 * MTU)


def test_a_class_short_of_credit_leaves_the_rest_of_the_link_to_the_other():
    """Class 0 gets c / (2 (F/C + d)) as if alone; class 1 fills every gap, so none is left."""
    base = Options(flow_control=FlowControl.CREDITS)
    short = replace(base, credit_bytes=4 * MTU)
    each = (TrafficClass(priority=1, options=short), TrafficClass())
    work = flows([0, 0], [3, 3], [8 * MIB, 32 * MIB], [0, 1])
    outcome = simulate(network(4), work, replace(base, classes=each))
    poor = 4 * MTU / (2 * (FRAME + PROPAGATION))
    assert 8 * MIB / outcome.end_ps[0] == pytest.approx(poor, rel=0.1)
    assert outcome.end_ps[1] == 40 * MIB * PS_PER_BYTE + LATENCY


def test_plain_python_gives_the_same_times():
    program = """
import numpy as np
from test_packet_classes import *
each = (TrafficClass(weight=2), TrafficClass(options=replace(LOSSY, seed=1)))
work = flows([4, 5, 6, 7], [0] * 4, 40_000, [0, 1, 0, 1])
print(simulate(network(16), work, Options(classes=each)).end_ps.tolist())
"""
    said = [
        subprocess.run(
            [sys.executable, "-c", program], env={**os.environ, "NUMBA_DISABLE_JIT": off},
            cwd=Path(__file__).parent, capture_output=True, text=True, check=True,
        ).stdout
        for off in ("0", "1")
    ]  # fmt: skip
    assert said[0] == said[1]


@pytest.mark.parametrize(
    ("each", "says"),
    [
        ((TrafficClass(weight=0),), "weight"),
        ((TrafficClass(),) * 16, "at most 15"),
        ((TrafficClass(name="a", options=Options(mtu_bytes=1024)),), "mtu_bytes 1024"),
    ],
)
def test_classes_that_cannot_be_are_refused(each, says):
    with pytest.raises(SpecError, match=says):
        simulate(network(4), flows([0], [3], MIB, [0]), Options(classes=each))


def test_a_flow_of_no_class_is_refused():
    with pytest.raises(SpecError, match="class 2; there are 2"):
        simulate(network(4), flows([0], [3], MIB, [2]), classes(1, 1))
