"""Limits of NICs beside their ports, against closed forms."""

import os
import subprocess
import sys

import numpy as np
import pytest

from weft.engines.packet.paths import hops_of, ideal_ps, paths_of
from weft.engines.packet.simulation import Flows, Options, simulate
from weft.engines.packet.tables import FlowControl
from weft.engines.packet.wiring import leaf_spine, shortest_routes

PS_PER_BYTE = 20
"""At 400 Gb/s."""
PROPAGATION = 500_000
MTU = 4096
NETWORK = leaf_spine(
    leaves=2, hosts_per_leaf=4, spines=2, bytes_per_s=50e9, propagation_s=500e-9
)


def flows(source, target, size_bytes, connection=None):
    source = np.asarray(source)
    return Flows(
        source=source,
        target=np.asarray(target),
        size_bytes=np.full(source.shape, size_bytes, np.int64),
        connection=None if connection is None else np.asarray(connection),
    )


def latency(frame_bytes):
    """Return the time of the last packet after its begin: two links under one leaf."""
    return 2 * (frame_bytes * PS_PER_BYTE + PROPAGATION)


@pytest.mark.parametrize("rate_per_s", [1e6, 100e6])
@pytest.mark.parametrize("message_bytes", [64, 256])
def test_small_messages_come_at_the_rate_of_the_nic(rate_per_s, message_bytes):
    """T = (N - 1) / R + the latency of one message."""
    options = Options(messages_per_s=rate_per_s, message_bytes=message_bytes)
    outcome = simulate(NETWORK, flows([0], [1], 1000 * message_bytes), options)
    expected = 999 * round(1e12 / rate_per_s) + latency(message_bytes)
    assert outcome.completion_ps == expected


def test_large_messages_come_at_the_rate_of_the_wire():
    """A message that takes longer on the wire than 1 / R loses nothing."""
    plain = simulate(NETWORK, flows([0], [1], 1 << 20))
    options = Options(messages_per_s=1 / (MTU * PS_PER_BYTE * 1e-12), message_bytes=MTU)
    assert simulate(NETWORK, flows([0], [1], 1 << 20), options).end_ps == plain.end_ps


@pytest.mark.parametrize("gap_ps", [100_000, 1_000_000])
def test_a_message_takes_its_packets_or_the_time_between_messages(gap_ps):
    """T = (N - 1) max(gap, k F / C) + k F / C + the latency of a frame, k packets a message."""
    options = Options(messages_per_s=1e12 / gap_ps, message_bytes=3 * MTU)
    took = simulate(NETWORK, flows([0], [1], 10 * 3 * MTU), options).completion_ps
    wire = 3 * MTU * PS_PER_BYTE
    assert took == 9 * max(gap_ps, wire) + wire - MTU * PS_PER_BYTE + latency(MTU)


def test_every_nic_has_its_own_rate():
    """Two senders to two receivers take no longer than one."""
    options = Options(messages_per_s=1e6, message_bytes=64)
    two = simulate(NETWORK, flows([0, 1], [2, 3], 6400), options)
    one = simulate(NETWORK, flows([0], [2], 6400), options)
    assert two.end_ps.tolist() == one.end_ps.tolist() * 2


@pytest.mark.parametrize(("queue_pairs", "missed"), [(4, 0.0), (8, 0.5), (16, 0.75)])
def test_more_connections_than_a_nic_holds_cost_their_share_of_misses(queue_pairs, missed):
    """Round robin over Q connections, C = 4 held: a turn costs max(F/C, (1 - C/Q) miss).

    The first connection begins before the others, so the last one sends twice in a row.
    """
    miss_ps, packets = 400_000, 10
    options = Options(connections=4, connection_miss_ps=miss_ps)
    sent = flows([0] * queue_pairs, [1] * queue_pairs, packets * MTU)
    outcome = simulate(NETWORK, sent, options)
    turn = max(MTU * PS_PER_BYTE, round(missed * miss_ps))
    turns = queue_pairs * packets - 2
    assert outcome.completion_ps == turns * turn + MTU * PS_PER_BYTE + latency(MTU)


def test_flows_of_one_connection_take_no_turns():
    options = Options(connections=1, connection_miss_ps=10_000_000)
    outcome = simulate(NETWORK, flows([0, 0], [1, 1], 10 * MTU, connection=[0, 0]), options)
    assert outcome.completion_ps == 19 * MTU * PS_PER_BYTE + latency(MTU)


@pytest.mark.parametrize("gap_ps", [2_000_000, 10_000_000])
def test_a_flow_in_mid_message_goes_on_while_another_waits_to_begin_one(gap_ps):
    """The first message takes its time on the wire; the second begins a gap after the first."""
    packets = 10
    wire = packets * MTU * PS_PER_BYTE
    options = Options(messages_per_s=1e12 / gap_ps, message_bytes=packets * MTU)
    outcome = simulate(NETWORK, flows([0, 0], [1, 2], packets * MTU), options)
    alone = wire - MTU * PS_PER_BYTE + latency(MTU)
    assert outcome.end_ps.tolist() == [alone, gap_ps + alone]


@pytest.mark.parametrize("flow_control", list(FlowControl))
@pytest.mark.parametrize("congestion", ["none", "dcqcn", "swift"])
def test_a_limited_nic_loses_nothing_and_ends(flow_control, congestion):
    options = Options(
        messages_per_s=5e6, message_bytes=512, connections=1, connection_miss_ps=50_000,
        flow_control=flow_control, congestion=congestion,
    )  # fmt: skip
    sent = flows([0, 0, 1, 4], [2, 3, 2, 2], 300_000)
    outcome = simulate(NETWORK, sent, options)
    assert (outcome.received_bytes == 300_000).all()
    assert outcome.counts["packets_alive"] == 0


SMALL_RUN = """
import sys
sys.path.insert(0, {folder!r})
from test_packet_nic import limited
print(limited().tolist())
"""


def limited():
    """Return when flows end that meet every limit of a NIC."""
    options = Options(
        messages_per_s=5e6, message_bytes=10_000, connections=1, connection_miss_ps=300_000
    )
    return simulate(NETWORK, flows([0, 0, 1], [2, 3, 2], 60_000), options).end_ps


def test_plain_python_limits_nics_as_compiled_kernels_do():
    program = SMALL_RUN.format(folder=os.path.dirname(__file__))  # noqa: PTH120 - for a script
    plain = subprocess.run(
        [sys.executable, "-c", program], env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert plain.stdout.strip() == str(limited().tolist())


@pytest.mark.parametrize("message_bytes", [None, 1000, 64])
def test_a_flow_alone_takes_its_ideal_time_whatever_its_messages(message_bytes):
    """T = (S + ceil(S / message) H) c and a frame a further hop: a message is a packet here."""
    options = Options(header_bytes=40, message_bytes=message_bytes)
    work = flows([0], [5], 60_000)
    routes = shortest_routes(NETWORK)
    alone = ideal_ps(paths_of(NETWORK, routes, work), work, options)
    last = 60_000 % (message_bytes or MTU) or message_bytes
    late = (min(message_bytes or MTU, MTU) - last) * 3 * PS_PER_BYTE  # the last is shorter
    assert simulate(NETWORK, work, options).completion_ps == pytest.approx(alone[0], abs=late)
    packets = -(-60_000 // (message_bytes or MTU))
    assert hops_of(paths_of(NETWORK, routes, work), work, options) == 4 * packets
