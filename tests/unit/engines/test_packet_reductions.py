"""Reductions in switches, SHARP and NVLS, against closed forms."""

import os
import subprocess
import sys

import pytest

from weft.engines.packet.hooks import CONTROLS
from weft.engines.packet.pattern import compile_traffic
from weft.engines.packet.schedules import fabric_of
from weft.engines.packet.settings import options_of
from weft.engines.packet.simulation import simulate
from weft.engines.packet.trees import tree_of
from weft.errors import Infeasible
from weft.predict.simulate import simulate as simulate_scenario
from weft.spec.load import load_scenario

MIB = 1 << 20
SMALL = {"server": "", "gpus": 1, "nics": 1, "scale_up": {"gpus": 1}}
FRAME = 4096 + 26
"""Of InfiniBand."""
PS_PER_BYTE = 20
STORED = {"preset": "infiniband", "cut_through": False}


def scenario(hosts, size="8MiB", network=None, **more):
    cluster = {
        "preset": "dgx_h100", "hosts": hosts, "host": more.pop("host", SMALL),
        **more.pop("cluster", {}),
    }  # fmt: skip
    one = {"operation": "all_reduce", "size_bytes": size, "algorithm": "collnet", **more}
    network = network or {"preset": "infiniband"}
    return load_scenario(
        {"cluster": cluster, "traffic": [{"collective": one}], "network": network}
    )


def outcome_of(spec, seed=1):
    schedule = compile_traffic(fabric_of(spec.cluster), spec, seed)
    return schedule, simulate(schedule.wiring, schedule.flows, options_of(spec, seed))


@pytest.mark.parametrize("hosts", [2, 8, 32])
@pytest.mark.parametrize("flow_control", ["credits", "pfc", "none"])
def test_an_all_reduce_on_one_switch_takes_one_transfer_and_a_way_up_and_down(
    hosts, flow_control
):
    """T = N F/C up, F/C down, two cables and a switch; the reducer adds k / 1000 of a frame."""
    spec = scenario(hosts, network={**STORED, "flow_control": flow_control})
    schedule, outcome = outcome_of(spec)
    links = schedule.wiring
    at_leaf = links.source[: schedule.fabric_links] >= links.hosts
    cable = links.propagation_s[0] * 1e12
    down = links.propagation_s[: 2 * hosts][at_leaf[: 2 * hosts]].max() * 1e12
    packets = 8 * MIB // 4096
    expected = (packets + 1) * FRAME * PS_PER_BYTE + cable + down
    assert outcome.completion_ps == pytest.approx(expected, abs=0.01 * FRAME * PS_PER_BYTE)


def test_cut_through_switches_still_add_up_whole_packets():
    """The same as stored and forwarded: a reducer waits for the frame."""
    whole, cut = (outcome_of(scenario(4, network=network))[1].completion_ps
                  for network in (STORED, {"preset": "infiniband"}))  # fmt: skip
    assert cut == pytest.approx(whole, abs=0.01 * FRAME * PS_PER_BYTE)


@pytest.mark.parametrize(("hosts", "tiers"), [(64, 1), (128, 2)])
def test_every_tier_adds_its_hops_both_ways(hosts, tiers):
    """T = T(one switch) + 2 (frame + cable + switch) a further tier, whatever the size."""
    extra = []
    for size in ("1MiB", "4MiB"):
        base = outcome_of(scenario(8, size, network=STORED))[1].completion_ps
        schedule, outcome = outcome_of(scenario(hosts, size, network=STORED))
        extra.append(outcome.completion_ps - base)
    hop = (
        FRAME * PS_PER_BYTE
        + schedule.wiring.propagation_s[: schedule.fabric_links].max() * 1e12
    )
    assert extra[0] == pytest.approx(extra[1], abs=2000)
    assert extra[0] == pytest.approx(2 * hop * (tiers - 1), abs=0.02 * FRAME * PS_PER_BYTE)


def test_every_link_of_the_tree_carries_each_byte_once_a_way():
    """2 S of a ring against S: half of the bytes leave a host."""
    schedule, outcome = outcome_of(scenario(64, "1MiB", cluster={"hosts": 64}))
    sent = outcome.links.sent_bytes[:128]
    from_host = schedule.wiring.source[:128] < 64
    assert (sent[from_host] == 256 * FRAME).all()
    assert (sent[~from_host] == 256 * FRAME).all()
    _, ring = outcome_of(scenario(64, "1MiB", algorithm="ring"))
    ring_bytes = ring.links.sent_bytes[:128][from_host].mean()
    assert ring_bytes / (256 * FRAME) == pytest.approx(2 * 63 / 64, rel=0.01)


def test_it_is_twice_as_fast_as_a_ring_and_keeps_its_lead_with_more_hosts():
    took = {
        (name, hosts): outcome_of(scenario(hosts, "16MiB", algorithm=name))[1].completion_ps
        for name in ("ring", "collnet")
        for hosts in (4, 16)
    }
    assert took["ring", 4] / took["collnet", 4] == pytest.approx(1.5, rel=0.03)
    assert took["ring", 16] / took["collnet", 16] == pytest.approx(1.875, rel=0.06)


@pytest.mark.parametrize("congestion", CONTROLS)
@pytest.mark.parametrize(
    ("hosts", "name", "more"), [(8, "collnet", {}), (1, "nvls", {"host": {}})]
)
def test_what_switches_send_ends_under_every_congestion_control(hosts, name, more, congestion):
    """Windows and credit count what was sent, not what a switch still waits for."""
    network = {"preset": "infiniband", "congestion": congestion}
    free = outcome_of(scenario(hosts, algorithm=name, **more))[1].completion_ps
    _, outcome = outcome_of(scenario(hosts, algorithm=name, network=network, **more))
    assert (outcome.end_ps >= 0).all()
    assert outcome.completion_ps < 1.3 * free


@pytest.mark.parametrize("outstanding", [None, "128KiB"])
def test_messages_of_a_reduction_come_at_the_rate_of_the_nic(outstanding):
    """T = messages / rate, whether or not buffers hold the ranks back."""
    nic = {"messages_per_s": 2e5, "message_bytes": "64KiB"}
    reduction = {} if outstanding is None else {"outstanding_bytes": outstanding}
    network = {**STORED, "nic": nic, "reduction": reduction}
    _, outcome = outcome_of(scenario(4, "8MiB", network=network))
    messages = 8 * MIB // (64 << 10)
    assert outcome.completion_ps == pytest.approx(messages / 2e5 * 1e12, rel=0.02)


@pytest.mark.parametrize("packets", [2, 8])
def test_buffers_bound_what_is_under_way(packets):
    """W frames a round trip of two frames, two cables and a switch: T = N / W round trips."""
    size = packets * 4096
    network = {**STORED, "reduction": {"outstanding_bytes": f"{size}B"}}
    _, outcome = outcome_of(scenario(4, "1MiB", network=network))
    free = outcome_of(scenario(4, "1MiB", network=STORED))[1].completion_ps
    packets_all = 256
    round_trip = free - (packets_all - 1) * FRAME * PS_PER_BYTE
    expected = max(free, packets_all / packets * round_trip)
    assert outcome.completion_ps == pytest.approx(expected, rel=0.06)


def test_a_slow_reducer_is_the_bottleneck():
    """k S / R where R is below k C."""
    network = {**STORED, "reduction": {"bytes_per_s": "100GB/s"}}
    _, outcome = outcome_of(scenario(8, "8MiB", network=network))
    wire = 8 * MIB * FRAME / 4096
    assert outcome.completion_ps == pytest.approx(8 * wire / 100e9 * 1e12, rel=0.01)


@pytest.mark.parametrize("size", ["1MiB", "64MiB"])
def test_nvls_sends_what_its_schedule_says_at_the_rate_of_nvlink(size):
    """T = S (1 + 1/n) / B and latency: loads, stores and copies overlap packet by packet."""
    spec = scenario(1, size, algorithm="nvls", host={})
    _, outcome = outcome_of(spec)
    size_bytes = spec.traffic[0].content.size_bytes
    share = 1 + 1 / 8
    ideal = size_bytes * share / spec.cluster.host.scale_up.bytes_per_s * 1e12
    assert ideal < outcome.completion_ps < 1.02 * ideal + 3e6
    assert outcome.counts["packets_alive"] == 0


@pytest.mark.parametrize(("operation", "ratio"), [("all_gather", 1), ("reduce_scatter", 1)])
def test_nvls_moves_one_buffer_for_half_of_an_all_reduce(operation, ratio):
    spec = scenario(1, "64MiB", algorithm="nvls", host={}, operation=operation)
    _, outcome = outcome_of(spec)
    ideal = ratio * 64 * MIB / spec.cluster.host.scale_up.bytes_per_s * 1e12
    assert outcome.completion_ps == pytest.approx(ideal, rel=0.14)
    assert outcome.completion_ps < 1.01 * ideal


@pytest.mark.parametrize("name", ["collnet", "nvls_tree"])
def test_hosts_of_several_gpus_reduce_inside_and_between(name):
    spec = scenario(4, "8MiB", algorithm=name, host={})
    schedule, outcome = outcome_of(spec)
    assert (outcome.end_ps >= 0).all()
    assert (outcome.received_bytes == schedule.flows.size_bytes).all()


def test_runs_come_one_after_the_other():
    spec = scenario(4, "1MiB", repeat=3, gap_s="50us")
    schedule, outcome = outcome_of(spec)
    begins, ends = (
        [getattr(outcome, name)[schedule.real & (schedule.run == run)] for run in range(3)]
        for name in ("begin_ps", "end_ps")
    )
    for run in (1, 2):
        assert begins[run].min() >= ends[run - 1].max() + 50_000_000


def test_every_rail_has_a_reduction_of_its_own():
    schedule, _ = outcome_of(scenario(4, "8MiB", host={}))
    assert [len(one.feeders) for one in schedule.flows.relays] == [4] * 8
    first = schedule.flows.size_bytes[schedule.real]
    assert (first == MIB).all()


def test_what_cannot_reduce_is_refused_with_what_to_use():
    with pytest.raises(Infeasible, match="switches of roce do not reduce"):
        outcome_of(
            scenario(4, cluster={"fabric": {"kind": "roce"}}, network={"preset": "roce_tuned"})
        )
    host = {"scale_up": {"in_network_reduction": False}}
    with pytest.raises(Infeasible, match="NVLink switches of these hosts do not reduce"):
        outcome_of(scenario(1, algorithm="nvls", host=host))


def test_a_tree_is_as_flat_as_can_be_and_turns_over_its_roots():
    around = {8: (9, 10), 11: (9, 10), 9: (8, 11), 10: (8, 11)}
    ports = {0: 8, 1: 8, 2: 11, 3: 11}
    assert [tree_of(ports, around, turn).root for turn in range(3)] == [9, 10, 9]
    assert tree_of({0: 8, 1: 8}, around, 0).root == 8
    with pytest.raises(Infeasible, match="no switch reaches all ranks"):
        tree_of({0: 8, 1: 30}, around, 0)


def test_reports_name_reducers_and_count_what_hosts_send():
    result = simulate_scenario(scenario(4, "1MiB"))
    assert result.traffic[0].flows == 4
    assert any("switches that reduce" in line for line in result.provenance.assumptions)
    assert {"leaf to reducer", "reducer to leaf"} <= {one.name for one in result.layers}
    assert any("leaf0 reducer" in one.name for one in result.bars)
    inside = simulate_scenario(scenario(1, "1MiB", algorithm="nvls", host={}))
    assert {"GPU to NVLink", "NVLink to GPU"} <= {one.name for one in inside.layers}
    assert any("host0.gpu3" in one.name for one in inside.bars)


SMALL_RUN = """
import sys
sys.path.insert(0, {folder!r})
from test_packet_reductions import outcome_of, scenario
_, outcome = outcome_of(scenario(4, "64KiB"))
print(outcome.end_ps.tolist())
"""


def test_plain_python_reduces_as_compiled_kernels_do():
    program = SMALL_RUN.format(folder=os.path.dirname(__file__))  # noqa: PTH120 - for a script
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    plain = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    _, outcome = outcome_of(scenario(4, "64KiB"))
    assert plain.stdout.strip() == str(outcome.end_ps.tolist())
