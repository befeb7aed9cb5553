"""Parts of a network take turns; what happens is what one event after the other would do."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.engines.packet import simulation
from weft.engines.packet.hooks import BALANCINGS, CONTROLS, RECOVERIES
from weft.engines.packet.parts import one_part, parts_of
from weft.engines.packet.pattern import compile_traffic
from weft.engines.packet.schedules import fabric_of
from weft.engines.packet.simulation import Flows, Options, Stall, make_state, simulate
from weft.engines.packet.tables import FlowControl, Watchdog
from weft.engines.packet.wiring import leaf_spine, shortest_routes
from weft.spec.load import load_scenario

HOSTS, LEAVES, SPINES = 12, 3, 2
US = 1_000_000
OF_THE_TURNS = {"now", "root", "lookahead", "free_packet", "fresh_packet"}
NETWORK = leaf_spine(
    leaves=LEAVES,
    hosts_per_leaf=HOSTS // LEAVES,
    spines=SPINES,
    bytes_per_s=50e9,
    propagation_s=5e-7,
)


@st.composite
def works(draw, *, most=10):
    """Flows between hosts; some wait for one that ends at their source."""
    count = draw(st.integers(1, most))
    host = st.integers(0, HOSTS - 1)
    source = np.array([draw(host) for _ in range(count)])
    target = (
        source + np.array([draw(st.integers(1, HOSTS - 1)) for _ in range(count)])
    ) % HOSTS
    size = np.array([draw(st.integers(1, 400_000)) for _ in range(count)])
    pairs = [
        (before, after)
        for after in range(count)
        for before in range(after)
        if target[before] == source[after]
    ]
    begin = np.array([draw(st.integers(0, 20 * US)) for _ in range(count)])
    predecessor = np.array(pairs[:count], np.int64).reshape(-1, 2)
    return Flows(
        source=source, target=target, size_bytes=size, begin_ps=begin, predecessor=predecessor
    )


@st.composite
def options(draw):
    """Anything that moves packets, with thresholds low enough to be met."""
    flow_control = draw(st.sampled_from(list(FlowControl)))
    return Options(
        flow_control=flow_control,
        congestion=draw(st.sampled_from(CONTROLS)),
        balancing=draw(st.sampled_from(BALANCINGS)),
        recovery=draw(st.sampled_from(RECOVERIES)),
        acknowledge=draw(st.booleans()),
        watchdog=draw(st.sampled_from(list(Watchdog))),
        watchdog_detection_ps=20 * US,
        watchdog_restoration_ps=20 * US,
        stalls=draw(st.sampled_from([(), (Stall(host=1, begin_ps=5 * US, end_ps=90 * US),)])),
        queue_limit_bytes=60_000 if flow_control is FlowControl.NONE else 1 << 40,
        shared_buffer_bytes=draw(st.sampled_from([None, 200_000])),
        link_retry=draw(st.booleans()),
        timeout_ps=100 * US,
        xoff_bytes=30_000,
        xon_bytes=20_000,
        kmin_bytes=10_000,
        kmax_bytes=60_000,
        credit_bytes=draw(st.sampled_from([10_000, 131_072])),
        seed=draw(st.integers(1, 5)),
    )


def whole(monkeypatch):
    """Let simulations that follow run in one part."""
    monkeypatch.setattr(
        simulation, "_parts", lambda wiring, *_, **__: one_part(wiring.hosts + wiring.switches)
    )


@settings(max_examples=150, deadline=None)
@given(works(), options())
def test_turns_change_no_result(work, chosen):
    assert_turns_change_nothing(NETWORK, work, chosen)


def assert_turns_change_nothing(wiring, work, chosen):
    in_parts = simulate(wiring, work, chosen, until_ps=2000 * US)
    with pytest.MonkeyPatch.context() as patch:
        whole(patch)
        in_order = simulate(wiring, work, chosen, until_ps=2000 * US)
    assert (in_parts.end_ps == in_order.end_ps).all()
    assert in_parts.now_ps == in_order.now_ps
    for name in in_parts.counts.keys() - OF_THE_TURNS:
        assert in_parts.counts[name] == in_order.counts[name], name
    same = [name for name in in_parts.links.dtype.names if name in STATISTICS]
    for name in same:
        assert (in_parts.links[name] == in_order.links[name]).all(), name
    assert in_parts.pauses.tolist() == in_order.pauses.tolist()


@cache
def with_delays():
    """Return a ring of pairs of GPUs: every other step of it never leaves its host."""
    host = {"server": "", "gpus": 2, "nics": 1, "scale_up": {"gpus": 2}}
    topology = {"kind": "leaf_spine", "switch_ports": 32}
    ring = {"operation": "all_gather", "size_bytes": "2MiB", "placement": "shuffled"}
    spec = load_scenario(
        {
            "cluster": {
                "preset": "hgx_h100_roce", "hosts": 40, "host": host, "topology": topology
            },
            "traffic": [{"collective": ring}],
        }
    )  # fmt: skip
    return compile_traffic(fabric_of(spec.cluster), spec, 1)


@settings(max_examples=10, deadline=None)
@given(options())
def test_turns_change_no_result_where_hosts_pass_data_on_inside(chosen):
    schedule = with_delays()
    assert_turns_change_nothing(schedule.wiring, schedule.flows, chosen)


def test_delays_inside_hosts_join_no_leaves():
    """Three leaves of 16 hosts, each with the delays of its own, and their spines."""
    schedule = with_delays()
    assert not schedule.real.all()
    wiring = schedule.wiring
    state = make_state(wiring, shortest_routes(wiring), schedule.flows, Options())
    leaves = {int(state.links.target[state.hosts.uplink[host]]) for host in range(40)}
    spines = {int(end) for end in wiring.target[: schedule.fabric_links]} - set(
        range(wiring.hosts)
    )
    assert len(leaves) > 1
    assert len(state.parts) == len(leaves | spines)


STATISTICS = {
    "sent_bytes", "largest_queue_bytes", "marks", "drops", "pauses", "paused_total", "errors",
    "trips", "random", "random_out",
}  # fmt: skip


def parts(work, chosen=None):
    state = make_state(NETWORK, shortest_routes(NETWORK), work, chosen or Options())
    return state.parts, int(state.counts[0].lookahead)


def flows(source, target, predecessor=()):
    return Flows(
        source=np.array(source),
        target=np.array(target),
        size_bytes=np.full(len(source), 5000),
        predecessor=np.array(predecessor, np.int64).reshape(-1, 2),
    )


def test_a_leaf_with_its_hosts_is_a_part_and_so_is_a_spine():
    rows, lookahead_ps = parts(flows([0, 1], [8, 9]))
    assert len(rows) == LEAVES + SPINES
    assert lookahead_ps == US // 2


def test_leaves_are_one_part_where_a_flow_of_one_begins_when_one_into_the_other_ends():
    rows, _ = parts(flows([0, 5], [9, 1], [(0, 1)]))
    assert len(rows) == LEAVES + SPINES - 1


def test_a_sender_that_knows_what_has_arrived_keeps_the_network_whole():
    rows, _ = parts(flows([0], [9]), Options(recovery="selective_repeat"))
    assert len(rows) == 1


def test_short_cables_join_parts():
    state = make_state(NETWORK, shortest_routes(NETWORK), flows([0], [9]), Options())
    links = state.links.copy()
    links.propagation[:] = 1000
    nothing = np.zeros((0, 2), np.int64)
    found = parts_of(links, HOSTS, HOSTS + LEAVES + SPINES, nothing)
    assert found.of_node.max() == 0
