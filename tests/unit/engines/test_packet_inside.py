"""What lies behind a port, PCIe or threads that copy, against closed forms."""

import numpy as np
import pytest

from weft import catalogue
from weft.engines.packet.inside import inside_of, with_inside
from weft.engines.packet.names import names_inside
from weft.engines.packet.paths import ideal_ps, paths_of
from weft.engines.packet.pattern import compile_traffic
from weft.engines.packet.schedules import fabric_of
from weft.engines.packet.settings import CONNECTION_MISS_S, CONNECTIONS, options_of
from weft.engines.packet.simulation import simulate
from weft.engines.packet.wiring import leaf_spine, shortest_routes
from weft.predict.simulate import simulate as simulate_scenario
from weft.spec.load import load_scenario

MIB = 1 << 20
PLAIN = {"flow_control": "pfc", "congestion": "none"}
SMALL = {"server": "", "gpus": 1, "nics": 1, "scale_up": {"gpus": 1}}


def scenario(traffic, preset="hgx_h100_roce", network=None, host=None, **more):
    cluster = {"preset": preset, "hosts": 4, "host": {**SMALL, **(host or {})}, **more}
    return load_scenario(
        {"cluster": cluster, "traffic": [traffic], "network": network or PLAIN}
    )


def one_flow(size="64MiB"):
    return {"flows": {"flows": [{"source": 0, "target": 1, "size_bytes": size}]}}


def outcome_of(spec, seed=1):
    schedule = compile_traffic(fabric_of(spec.cluster, None, inside_of(spec)), spec, seed)
    return schedule, simulate(schedule.wiring, schedule.flows, options_of(spec, seed))


def took(spec):
    return outcome_of(spec)[1].completion_ps


def test_half_of_the_lanes_halve_the_rate():
    """T = S / PCIe + what a packet takes further on, below a per cent of it."""
    full = took(scenario(one_flow()))
    half = took(scenario(one_flow(), host={"pcie_bytes_per_s": "25GB/s"}))
    assert half == pytest.approx(64 * MIB / 25e9 * 1e12, rel=0.01)
    assert half / full == pytest.approx(2 * 4096 / (4096 + 82), rel=0.02)


def test_a_port_slower_than_pcie_is_all_there_is():
    spec = scenario(one_flow(), host={"pcie_bytes_per_s": "60GB/s"})
    assert inside_of(spec) is None
    assert took(spec) == took(scenario(one_flow()))


@pytest.mark.parametrize("flow_control", ["pfc", "credits"])
def test_a_slow_receiver_holds_its_senders_back_and_loses_nothing(flow_control):
    """Two senders of one each: the receiver's PCIe takes S at half of what its port brings."""
    traffic = {"incast": {"senders": 2, "size_bytes": "8MiB"}}
    network = {"flow_control": flow_control, "congestion": "none"}
    spec = scenario(traffic, host={"pcie_bytes_per_s": "12.5GB/s"}, network=network)
    schedule, outcome = outcome_of(spec)
    assert outcome.completion_ps == pytest.approx(16 * MIB / 12.5e9 * 1e12, rel=0.02)
    assert (outcome.received_bytes == 8 * MIB).all()
    assert (outcome.counts["trims"], outcome.counts["drops"]) == (0, 0)
    assert schedule.wiring.hosts == 4


def test_a_flow_alone_behind_pcie_takes_its_ideal_time():
    spec = scenario(one_flow("1MiB"), host={"pcie_bytes_per_s": "25GB/s"})
    schedule, outcome = outcome_of(spec)
    paths = paths_of(schedule.wiring, shortest_routes(schedule.wiring), schedule.flows)
    ideal = ideal_ps(paths, schedule.flows, options_of(spec, 1))
    assert outcome.completion_ps == pytest.approx(ideal[0], rel=1e-6)
    assert paths.links.tolist() == [4]


@pytest.mark.parametrize(("threads", "packet_cost"), [(1, 0), (1, 2000), (2, 2000), (4, 9000)])
def test_a_host_copies_with_its_threads_until_the_link_is_full(threads, packet_cost):
    """Rate = min(link, threads / (cost of a byte + cost of a packet / packet))."""
    sockets = {
        "threads": threads, "thread_bytes_per_s": "4GB/s", "packet_cost_bytes": packet_cost,
        "host_bytes_per_s": "1TB/s",
    }  # fmt: skip
    spec = scenario(one_flow(), "h100_tcp_100g", {"preset": "tcp", "sockets": sockets})
    copied = threads * 4e9 / (1 + packet_cost / 9000)
    link = 12.5e9 * 9000 / 9090
    assert took(spec) == pytest.approx(64 * MIB / min(link, copied) * 1e12, rel=0.03)


@pytest.mark.parametrize(
    ("more", "rate"),
    [
        ({}, 4.6e9 / (1 + 2000 / 9000)),
        ({"segment_bytes": "64KiB"}, 4.6e9 / (1 + 2000 / 65536)),
        ({"host_bytes_per_s": "2GB/s"}, 2e9),
        ({"sockets": 4}, 4.6e9 / (1 + 2000 / 9000)),
    ],
)
def test_segments_and_memory_set_what_a_thread_copies(more, rate):
    spec = scenario(one_flow(), "h100_tcp_100g", {"preset": "tcp", "sockets": more})
    assert took(spec) == pytest.approx(64 * MIB / rate * 1e12, rel=0.03)


def test_threads_and_sockets_are_those_that_nccl_is_told():
    env = {"NCCL_SOCKET_NTHREADS": "2", "NCCL_NSOCKS_PERTHREAD": "3"}
    spec = scenario(
        one_flow(), "h100_tcp_100g", {"preset": "tcp", "sockets": {}}, nccl={"env": env}
    )
    schedule, _ = outcome_of(spec)
    assert len(schedule.flows.source) == 6
    assert np.bincount(schedule.flows.source, minlength=2)[:2].tolist() == [3, 3]


def test_the_links_behind_ports_are_named_and_counted():
    sockets = {"preset": "tcp", "sockets": {"threads": 2}}
    result = simulate_scenario(scenario(one_flow("1MiB"), "h100_tcp_100g", sockets))
    layers = {one.name: one.links for one in result.layers}
    assert layers["thread to NIC"] == layers["NIC to thread"] == 8
    assert any("a thread copies" in line for line in result.provenance.assumptions)
    fabric = fabric_of(result.scenario.cluster, None, inside_of(result.scenario))
    names = names_inside(fabric.graph, fabric.inside)
    assert names[:2] == [f"host0.nic0 thread {lane} to host0.nic0" for lane in (0, 1)]
    assert len(names) == len(fabric.whole.source) - len(fabric.wiring.source)


def test_everything_behind_a_port_is_reached_through_it():
    wiring = leaf_spine(
        leaves=2, hosts_per_leaf=2, spines=2, bytes_per_s=5e9, propagation_s=1e-7
    )
    spec = scenario(one_flow(), "h100_tcp_100g", {"preset": "tcp", "sockets": {"threads": 3}})
    whole = with_inside(wiring, inside_of(spec))
    assert (whole.hosts, whole.switches) == (12, 8)
    pairs = set(zip(whole.source.tolist(), whole.target.tolist(), strict=True))
    assert pairs == {(b, a) for a, b in pairs}
    assert all((lane, 12 + 4 + lane // 3) in pairs for lane in range(12))


def test_a_stuck_receiver_stalls_behind_its_port_too():
    spec = load_scenario({
        "cluster": {"preset": "hgx_h100_roce", "hosts": 4,
                    "host": {**SMALL, "pcie_bytes_per_s": "25GB/s"}},
        "traffic": [one_flow("1MiB")], "network": PLAIN,
        "stuck": [{"gpu": 1, "begin_s": "0s", "end_s": "1ms"}],
    })  # fmt: skip
    assert took(spec) > 1_000_000_000


def test_limits_come_from_the_catalogue_or_a_stated_estimate():
    network = {"preset": "infiniband"}
    spec = scenario(one_flow(), "dgx_a100", network)
    stated = catalogue.find("nics", spec.cluster.host.nic).messages_per_s
    options = options_of(spec, 1)
    assert options.messages_per_s == stated.value == 215e6
    assert options.connections == round(CONNECTIONS.value)
    assert options.connection_miss_ps == round(CONNECTION_MISS_S.value * 1e12)
    assert options_of(scenario(one_flow()), 1).messages_per_s is None


@pytest.mark.parametrize(
    ("key", "value", "option", "number"),
    [
        ("messages_per_s", 1e6, "messages_per_s", 1e6),
        ("message_bytes", "64B", "message_bytes", 64),
        ("connections", 7, "connections", 7),
        ("connection_miss_s", "1us", "connection_miss_ps", 1_000_000),
    ],
)
def test_every_limit_of_a_scenario_reaches_the_kernel(key, value, option, number):
    spec = scenario(one_flow(), network={**PLAIN, "nic": {key: value}})
    assert getattr(options_of(spec, 1), option) == number


def test_default_limits_change_no_time_of_ordinary_traffic():
    """Large messages over few connections: the wire is slower than all that a NIC does."""
    spec = scenario(one_flow("1MiB"), "dgx_a100", {"preset": "infiniband"})
    free = scenario(
        one_flow("1MiB"), "dgx_a100", {"preset": "infiniband", "nic": {"messages_per_s": 1e12}}
    )
    assert took(spec) == took(free)
