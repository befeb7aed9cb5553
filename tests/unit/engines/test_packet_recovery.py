"""Loss recovery: drops, bit errors, timeouts and retries against closed forms."""

import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from weft.engines.packet.hooks import RECOVERIES
from weft.engines.packet.simulation import Flows, Options, simulate
from weft.engines.packet.tables import FlowControl, Stop
from weft.engines.packet.wiring import leaf_spine

PS_PER_BYTE = 20
PROPAGATION = 500_000
MTU = 4096
FRAME = MTU * PS_PER_BYTE
CONTROL = 64 * PS_PER_BYTE
MIB = 1 << 20
NUMBERED = ["go_back_n", "selective_repeat"]
ONE_WAY = 3 * (FRAME + PROPAGATION) + PROPAGATION


def network(hosts: int, bit_error_ratio=0.0):
    leaves, per_leaf, spines = {2: (2, 1, 1), 4: (2, 2, 2), 16: (4, 4, 4), 64: (8, 8, 8)}[hosts]
    wiring = leaf_spine(
        leaves=leaves, hosts_per_leaf=per_leaf, spines=spines,
        bytes_per_s=50e9, propagation_s=500e-9,
    )  # fmt: skip
    return replace(wiring, bit_error_ratio=np.broadcast_to(bit_error_ratio, len(wiring.source)))


def flows(source, target, size_bytes):
    source = np.asarray(source)
    size = np.broadcast_to(np.asarray(size_bytes), source.shape).astype(np.int64)
    return Flows(source=source, target=np.asarray(target), size_bytes=size)


def incast(senders: int, size_bytes: int):
    return flows(np.arange(8, 8 + senders), np.zeros(senders, int), size_bytes)


DROPS = Options(
    flow_control=FlowControl.NONE, congestion="dctcp", queue_limit_bytes=200_000,
    kmin_bytes=80_000, kmax_bytes=160_000, pmax_ratio=1.0, timeout_ps=100_000_000,
)  # fmt: skip


@pytest.mark.parametrize("recovery", RECOVERIES)
def test_without_loss_no_recovery_costs_any_time(recovery):
    """T = S/C + 3 (F/C + d) + d, whatever would be done about a loss."""
    outcome = simulate(network(4), flows([0], [3], 8 * MIB), Options(recovery=recovery))
    assert outcome.completion_ps == 8 * MIB * PS_PER_BYTE + ONE_WAY
    assert outcome.counts["nacks"] == outcome.counts["timeouts"] == 0
    assert outcome.counts["packets_alive"] == 0


@pytest.mark.parametrize("congestion", ["dctcp", "dcqcn", "cubic", "none"])
@pytest.mark.parametrize("recovery", NUMBERED)
def test_every_byte_arrives_though_queues_drop(recovery, congestion):
    options = replace(DROPS, recovery=recovery, congestion=congestion)
    outcome = simulate(network(64), incast(16, MIB), options)
    assert outcome.counts["drops"] > 0
    assert outcome.counts["trims"] == 0
    assert (outcome.received_bytes == MIB).all()
    assert outcome.counts["packets_alive"] == 0
    assert outcome.stopped is Stop.DONE


@pytest.mark.parametrize("recovery", NUMBERED)
@pytest.mark.parametrize("balancing", ["ecmp", "spray"])
def test_trimming_serves_numbered_packets_too(recovery, balancing):
    options = replace(DROPS, recovery=recovery, trimming=True, balancing=balancing)
    outcome = simulate(network(64), incast(16, MIB), options)
    assert outcome.counts["trims"] > 0
    assert outcome.counts["drops"] == 0
    assert (outcome.received_bytes == MIB).all()
    assert outcome.counts["packets_alive"] == 0


@pytest.mark.parametrize("recovery", ["trim", "selective_repeat"])
def test_a_coin_trims_the_last_packet_in_place_of_the_one_that_comes(recovery):
    """As many packets are trimmed, others: the queue is as long, and every byte arrives."""
    first, last = (
        simulate(
            network(64),
            incast(32, MIB),
            replace(DROPS, recovery=recovery, trimming=True, trims_last_ratio=ratio),
        )
        for ratio in (0.0, 0.5)
    )
    assert (last.end_ps != first.end_ps).any()
    assert last.counts["trims"] == pytest.approx(first.counts["trims"], rel=0.2)
    assert last.links.largest_queue_bytes.max() == first.links.largest_queue_bytes.max()
    assert last.completion_ps == pytest.approx(first.completion_ps, rel=0.05)
    assert (last.received_bytes == MIB).all()
    assert last.counts["packets_alive"] == 0


def test_what_can_be_paused_is_trimmed_as_it_comes():
    """A packet in a queue has an account with the switch, so none of them is trimmed there."""
    options = replace(DROPS, recovery="trim", flow_control=FlowControl.PFC, headroom_bytes=0)
    one, other = (
        simulate(network(64), incast(32, MIB), replace(options, trims_last_ratio=ratio))
        for ratio in (0.0, 0.5)
    )
    assert one.counts["trims"] > 0
    assert (one.end_ps == other.end_ps).all()


def test_going_back_resends_more_than_repeating_what_is_missing():
    def sent(recovery):
        outcome = simulate(network(64), incast(16, MIB), replace(DROPS, recovery=recovery))
        return outcome.links.sent_bytes[outcome.links.source < 64].sum()

    assert sent("go_back_n") > 1.02 * sent("selective_repeat")


def test_a_lost_last_packet_is_sent_again_after_the_timeout():
    """The one packet is lost on its first link: T = timeout + F/C + 3 (F/C + d) + d."""
    wiring = network(2)
    for recovery in NUMBERED:
        outcome = simulate_with_one_error(wiring, recovery, packets=1, at_byte=MTU - 1)
        assert outcome.completion_ps == 100_000_000 + FRAME + ONE_WAY
        assert outcome.counts["timeouts"] == 1


def simulate_with_one_error(wiring, recovery, *, packets, at_byte, **more):
    """Damage one byte of the first link: its generator draws the rest far away."""
    from weft.engines.packet import simulation  # noqa: PLC0415 - the tables are needed here

    options = Options(recovery=recovery, timeout_ps=100_000_000, **more)
    routes = simulation.shortest_routes(wiring)
    state = simulation.make_state(wiring, routes, flows([0], [1], packets * MTU), options)
    link = routes.uplink[0]
    state.links.faulty[link] = 1
    state.links.error_at[link] = at_byte
    state.links.error_gap_bytes[link] = 1e15
    return simulation.finish(state)


def test_repeating_one_lost_packet_costs_one_packet():
    """N packets and the lost one again, which fits while the sender is still sending."""
    n = 400
    outcome = simulate_with_one_error(network(2), "selective_repeat", packets=n, at_byte=MTU)
    assert outcome.counts["nacks"] == 1
    assert outcome.counts["timeouts"] == 0
    assert outcome.completion_ps == (n + 1) * FRAME + ONE_WAY


def test_going_back_costs_what_was_sent_since():
    """The NACK of packet k leaves when k + 1 has arrived: a round trip is sent in vain."""
    n = 400
    outcome = simulate_with_one_error(network(2), "go_back_n", packets=n, at_byte=MTU)
    noticed = 3 * FRAME + ONE_WAY + 4 * (CONTROL + PROPAGATION)
    resumes = -(-noticed // FRAME) * FRAME
    assert outcome.counts["nacks"] == 1
    assert outcome.completion_ps == resumes + (n - 1) * FRAME + ONE_WAY


def test_a_link_that_retries_pays_a_round_trip_and_the_frame_again():
    """T = (N + 1) F/C + 2 d more than the links of the rest, and nobody else notices."""
    n = 400
    outcome = simulate_with_one_error(
        network(2), "trim", packets=n, at_byte=MTU, link_retry=True
    )
    assert outcome.counts["errors"] == 1
    assert outcome.completion_ps == (n + 1) * FRAME + 2 * PROPAGATION + ONE_WAY


@pytest.mark.parametrize("recovery", NUMBERED)
@pytest.mark.parametrize("flow_control", list(FlowControl))
def test_bit_errors_lose_packets_and_recovery_brings_every_byte(recovery, flow_control):
    options = Options(
        recovery=recovery, flow_control=flow_control, timeout_ps=50_000_000, acknowledge=True
    )
    hosts = np.arange(16)
    work = flows(hosts, np.roll(hosts, 5), 4 * MIB)
    outcome = simulate(network(16, 1e-8), work, options)
    assert outcome.counts["errors"] > 10
    assert (outcome.received_bytes == 4 * MIB).all()
    assert outcome.counts["packets_alive"] == 0
    assert (outcome.links.ingress_bytes == 0).all()


def test_errors_come_as_often_as_the_ratio_says():
    """Poisson: bits times ratio, within four standard deviations."""
    wiring = network(4, 1e-7)
    options = Options(recovery="selective_repeat", timeout_ps=50_000_000)
    outcome = simulate(wiring, flows([0, 1], [3, 2], 32 * MIB), options)
    bits = 8 * outcome.links.sent_bytes.sum()
    expected = bits * 1e-7
    assert abs(outcome.counts["errors"] - expected) < 4 * expected**0.5


def test_link_retry_hides_errors_from_the_hosts():
    hosts = np.arange(16)
    work = flows(hosts, np.roll(hosts, 5), 4 * MIB)
    seen = simulate(network(16, 1e-8), work, Options(recovery="go_back_n"))
    hidden = simulate(network(16, 1e-8), work, Options(recovery="go_back_n", link_retry=True))
    assert hidden.counts["errors"] > 0
    assert hidden.counts["nacks"] == hidden.counts["timeouts"] == 0
    assert hidden.completion_ps < seen.completion_ps


def test_patience_with_reordering_stops_needless_repeats_under_spraying():
    hosts = np.arange(16)
    work = flows(hosts, np.roll(hosts, 5), 4 * MIB)

    def resent(reordering_packets):
        options = Options(
            balancing="spray", recovery="selective_repeat",
            reordering_packets=reordering_packets,
        )  # fmt: skip
        return simulate(network(16), work, options).counts["resent_bytes"]

    assert resent(0) > 10 * resent(256)


SMALL_CASE = """
from dataclasses import replace
import numpy as np
from weft.engines.packet.simulation import Flows, Options, simulate
from weft.engines.packet.tables import FlowControl
from weft.engines.packet.wiring import leaf_spine
net = leaf_spine(leaves=2, hosts_per_leaf=2, spines=2, bytes_per_s=50e9, propagation_s=5e-7)
net = replace(net, bit_error_ratio=np.full(len(net.source), 2e-7))
size = np.full(3, 1 << 19)
work = Flows(source=np.array([0, 1, 2]), target=np.array([3, 3, 1]), size_bytes=size)
for recovery in ("go_back_n", "selective_repeat"):
    options = Options(recovery=recovery, congestion="swift", timeout_ps=20_000_000,
                      flow_control=FlowControl.NONE, queue_limit_bytes=100_000)
    out = simulate(net, work, options)
    print(out.end_ps.tolist(), out.counts)
"""


def test_plain_python_loses_and_recovers_the_same_packets():
    def run(**environment):
        return subprocess.run(
            [sys.executable, "-c", SMALL_CASE], env={**os.environ, **environment},
            capture_output=True, text=True, check=True,
        ).stdout  # fmt: skip

    assert run() == run(NUMBA_DISABLE_JIT="1")
