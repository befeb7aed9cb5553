"""Pauses as they go wrong: storms, watchdogs, trees, deadlocks, headroom, shared buffers."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from possible_deadlocks import possible_deadlock
from weft.engines.packet.pauses import pause_tree, victims
from weft.engines.packet.simulation import Flows, Options, Stall, simulate
from weft.engines.packet.tables import FlowControl, Stop, Watchdog
from weft.engines.packet.wiring import Wiring, leaf_spine, shortest_routes
from weft.errors import SpecError
from weft.network.network import graph
from weft.spec.load import preset

MTU = 4096
MIB = 1 << 20
PS_PER_BYTE = 20
PROPAGATION = 500_000
ONE_WAY = 3 * (MTU * PS_PER_BYTE + PROPAGATION) + PROPAGATION
US = 1_000_000


def network(hosts: int, propagation_s=500e-9, bytes_per_s=50e9):
    leaves, per_leaf, spines = {2: (2, 1, 1), 4: (2, 2, 2), 16: (4, 4, 4)}[hosts]
    return leaf_spine(
        leaves=leaves, hosts_per_leaf=per_leaf, spines=spines,
        bytes_per_s=bytes_per_s, propagation_s=propagation_s,
    )  # fmt: skip


def flows(source, target, size_bytes):
    source = np.asarray(source)
    size = np.broadcast_to(np.asarray(size_bytes), source.shape).astype(np.int64)
    return Flows(source=source, target=np.asarray(target), size_bytes=size)


def test_a_receiver_that_stalls_delays_its_flow_by_just_that_time():
    """The stall begins before data comes and ends after; T = end + d + S/C + F/C + d."""
    stall = Stall(host=1, begin_ps=0, end_ps=100 * US)
    options = Options(stalls=(stall,))
    outcome = simulate(network(2), flows([0], [1], MIB), options)
    frames = MIB * PS_PER_BYTE
    assert outcome.completion_ps == 100 * US + frames + PROPAGATION
    assert outcome.counts["drops"] == 0


@pytest.mark.parametrize("flow_control", [FlowControl.PFC, FlowControl.CREDITS])
def test_a_stuck_receiver_spreads_to_flows_that_do_not_go_there(flow_control):
    """Hosts 4 to 7 send to the stuck host 0; 8 shares a leaf with them only through queues."""
    stall = Stall(host=0, begin_ps=0, end_ps=2000 * US)
    work = flows([4, 5, 6, 7, 4, 5], [0, 0, 0, 0, 8, 9], 4 * MIB)
    calm = simulate(network(16), work, Options(flow_control=flow_control))
    storm = simulate(network(16), work, Options(flow_control=flow_control, stalls=(stall,)))
    assert storm.end_ps[4] > 2 * calm.end_ps[4]
    assert storm.counts["drops"] == 0
    assert (storm.received_bytes == 4 * MIB).all()


def test_the_tree_of_pauses_has_the_stuck_link_as_root_and_names_the_victims():
    wiring = network(16)
    stall = Stall(host=0, begin_ps=0, end_ps=2000 * US)
    work = flows([4, 5, 6, 7, 4, 5], [0, 0, 0, 0, 8, 9], 4 * MIB)
    outcome = simulate(wiring, work, Options(stalls=(stall,)))
    tree = pause_tree(outcome)
    stuck = shortest_routes(wiring).last_link[0]
    assert tree.roots[0] == stuck
    assert tree.own_ps[stuck] > 0.75 * sum(tree.own_ps.values())
    assert set(victims(tree, wiring, work)) == {4, 5}
    assert tree.paused_ps[stuck] == 2000 * US
    uplinks = shortest_routes(wiring).uplink[4:8]
    assert (tree.paused_ps[uplinks] > 1000 * US).all()


def test_paused_time_by_cause_adds_up_to_paused_time():
    """A pause reaches the sender one cable later than it is recorded, and so does its end."""
    work = flows(np.arange(4, 16), np.zeros(12, int), MIB)
    outcome = simulate(network(16), work, Options(xoff_bytes=50_000, xon_bytes=40_000))
    tree = pause_tree(outcome)
    assert outcome.counts["pauses"] == len(outcome.pauses) > 0
    assert sum(tree.edges.values()) == tree.paused_ps.sum()
    assert (outcome.pauses.end >= outcome.pauses.begin).all()


def test_records_of_pauses_are_bounded():
    work = flows(np.arange(4, 16), np.zeros(12, int), MIB)
    options = Options(xoff_bytes=50_000, xon_bytes=40_000, pause_records=5)
    outcome = simulate(network(16), work, options)
    assert outcome.counts["pauses"] > len(outcome.pauses) == 5


@pytest.mark.parametrize("action", [Watchdog.DROP, Watchdog.FORWARD])
def test_the_watchdog_frees_the_victims_of_a_stuck_receiver(action):
    stall = Stall(host=0, begin_ps=0, end_ps=50_000 * US)
    work = flows([4, 5, 6, 7, 4, 5], [0, 0, 0, 0, 8, 9], 4 * MIB)
    options = Options(
        stalls=(stall,), recovery="go_back_n", watchdog_detection_ps=500 * US,
        watchdog_restoration_ps=100_000 * US, timeout_ps=5_000 * US,
    )  # fmt: skip
    stuck = simulate(network(16), work, options)
    freed = simulate(network(16), work, replace(options, watchdog=action))
    assert freed.counts["watchdog_trips"] >= 1
    assert stuck.end_ps[4] > 50_000 * US
    assert freed.end_ps[4] < 10_000 * US
    assert (freed.counts["drops"] > 0) == (action is Watchdog.DROP)
    assert (freed.received_bytes == 4 * MIB).all()
    assert freed.counts["packets_alive"] == 0


def test_a_watchdog_leaves_short_pauses_alone():
    work = flows(np.arange(4, 16), np.zeros(12, int), MIB)
    options = Options(xoff_bytes=50_000, xon_bytes=40_000)
    watched = replace(options, watchdog=Watchdog.DROP, watchdog_detection_ps=10_000 * US)
    plain, same = (simulate(network(16), work, o) for o in (options, watched))
    assert same.counts["watchdog_trips"] == 0
    assert (plain.end_ps == same.end_ps).all()


def circle(switches: int) -> Wiring:
    """Switches in a one-way circle with a host each: what nobody should build."""
    host = np.arange(switches)
    here, after = switches + host, switches + (host + 1) % switches
    source, target = np.concatenate([host, here, here]), np.concatenate([here, host, after])
    return Wiring(
        hosts=switches, switches=switches, source=source, target=target,
        bytes_per_s=np.full(len(source), 50e9), propagation_s=np.full(len(source), 500e-9),
    )  # fmt: skip


@pytest.mark.parametrize("flow_control", [FlowControl.PFC, FlowControl.CREDITS])
@pytest.mark.parametrize("switches", [3, 5])
def test_a_circle_of_dependencies_deadlocks_and_is_found(switches, flow_control):
    """Every circle link carries two flows: all buffers fill, and each waits for the next."""
    wiring = circle(switches)
    host = np.arange(switches)
    work = flows(host, (host + 2) % switches, 8 * MIB)
    outcome = simulate(wiring, work, Options(flow_control=flow_control))
    on_circle = {int(link) for link in np.flatnonzero(wiring.target >= switches) if
                 wiring.source[link] >= switches}  # fmt: skip
    assert set(possible_deadlock(wiring, shortest_routes(wiring))) == on_circle
    assert set(outcome.deadlock) == on_circle
    assert outcome.stopped is Stop.DONE
    assert outcome.completion_ps < 0
    assert outcome.counts["packets_alive"] > 0


def test_the_same_circle_lives_without_lossless_links():
    host = np.arange(3)
    options = Options(
        flow_control=FlowControl.NONE, congestion="dctcp", queue_limit_bytes=200_000
    )
    outcome = simulate(circle(3), flows(host, (host + 2) % 3, MIB), options)
    assert outcome.deadlock == ()
    assert (outcome.received_bytes == MIB).all()


@pytest.mark.parametrize(("name", "hosts"), [("dgx_h100", 64), ("dgx_h100", 300)])
def test_up_and_down_routes_cannot_deadlock(name, hosts):
    from weft.engines.packet.schedules import wiring_of  # noqa: PLC0415 - only here

    wiring = wiring_of(graph(preset(name, hosts=hosts)))
    assert possible_deadlock(wiring, shortest_routes(wiring)) == ()
    leaf_and_spine = network(16)
    assert possible_deadlock(leaf_and_spine, shortest_routes(leaf_and_spine)) == ()


def drops(propagation_s, bytes_per_s, share):
    wiring = network(16, propagation_s, bytes_per_s)
    frame_bytes = MTU + 82
    headroom = 2 * propagation_s * bytes_per_s + 2 * frame_bytes
    options = Options(
        header_bytes=82, xoff_bytes=60_000, xon_bytes=50_000, recovery="go_back_n",
        headroom_bytes=int(share * headroom), timeout_ps=2_000 * US,
    )  # fmt: skip
    outcome = simulate(wiring, flows(np.arange(4, 16), np.zeros(12, int), MIB), options)
    assert (outcome.received_bytes == MIB).all()
    return outcome.counts["drops"]


@settings(max_examples=15, deadline=None)
@given(
    propagation_s=st.floats(5e-9, 5e-6),
    bytes_per_s=st.sampled_from([12.5e9, 25e9, 50e9, 100e9]),
)
def test_nothing_is_dropped_with_the_headroom_that_cable_and_rate_ask_for(
    propagation_s, bytes_per_s
):
    assert drops(propagation_s, bytes_per_s, 1.0) == 0


@pytest.mark.parametrize("propagation_s", [500e-9, 5e-6])
def test_with_half_the_headroom_packets_are_dropped(propagation_s):
    assert drops(propagation_s, 50e9, 0.5) > 0


@pytest.mark.parametrize("alpha", [0.25, 1.0, 4.0])
def test_one_queue_takes_alpha_over_one_plus_alpha_of_a_shared_buffer(alpha):
    """q = alpha (B - q), so q = B alpha / (1 + alpha). [Choudhury & Hahne 1998]"""
    buffer = 8 * MIB
    options = Options(
        flow_control=FlowControl.NONE, recovery="selective_repeat", alpha_ratio=alpha,
        shared_buffer_bytes=buffer, timeout_ps=500 * US,
    )  # fmt: skip
    # twelve hosts of the same leaf's neighbours send more than the buffer holds
    outcome = simulate(
        network(16), flows(np.arange(4, 16), np.zeros(12, int), 2 * MIB), options
    )
    wiring = network(16)
    to_host = shortest_routes(wiring).last_link[0]
    expected = buffer * alpha / (1 + alpha)
    assert outcome.links.largest_queue_bytes[to_host] == pytest.approx(expected, abs=MTU)
    assert outcome.counts["drops"] > 0
    assert (outcome.received_bytes == 2 * MIB).all()


def test_a_shared_buffer_lets_two_queues_share_what_one_may_not_take():
    """Two full queues take alpha / (1 + 2 alpha) each."""
    buffer = 4 * MIB
    options = Options(
        flow_control=FlowControl.NONE, recovery="selective_repeat",
        balancing="adaptive", reordering_packets=1024,
        shared_buffer_bytes=buffer, timeout_ps=500 * US,
    )  # fmt: skip
    wiring = network(16)
    work = flows([4, 5, 6, 7, 8, 9, 10, 11], [0, 0, 0, 0, 1, 1, 1, 1], 4 * MIB)
    outcome = simulate(wiring, work, options, until_ps=50 * US)
    queues = outcome.links.queue_bytes[shortest_routes(wiring).last_link[:2]]
    assert queues.sum() == pytest.approx(2 * buffer / 3, rel=0.05)
    assert queues == pytest.approx([buffer / 3] * 2, rel=0.2)


def test_pauses_come_earlier_when_the_shared_buffer_fills():
    work = flows(np.arange(4, 16), np.zeros(12, int), MIB)

    def pauses(**more):
        outcome = simulate(network(16), work, Options(**more))
        assert outcome.counts["drops"] == 0
        return outcome.counts["pauses"]

    assert pauses(shared_buffer_bytes=MIB, alpha_ratio=0.125) > pauses()


def test_a_host_cannot_stall_without_end():
    stalls = tuple(Stall(host=0, begin_ps=n, end_ps=n) for n in range(200))
    with pytest.raises(SpecError, match="stalls too often"):
        simulate(network(4), flows([0], [3], MTU), Options(stalls=stalls))


def test_more_pauses_than_a_cable_has_room_for_stop_nobody_when_they_last_no_time():
    """A packet leaves as the next one comes, and XON is XOFF: each is a pause of no length."""
    wiring = leaf_spine(
        leaves=2, hosts_per_leaf=4, spines=1, bytes_per_s=50e9, propagation_s=1e-4
    )
    work = Flows(
        source=np.array([0, 1]), target=np.array([3, 3]),
        size_bytes=np.array([5000 * 4096, 40 * 4096]),
    )  # fmt: skip
    threshold = 40 * 4096 + 2048
    paused = simulate(wiring, work, Options(xoff_bytes=threshold, xon_bytes=threshold))
    assert paused.counts["pauses"] > 1000
    assert paused.completion_ps == simulate(wiring, work).completion_ps
    assert (paused.links.paused == 0).all()
