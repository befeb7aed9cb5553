"""RCCC: receivers grant credit at their line rate, to all senders alike."""

import numpy as np
import pytest

from weft.engines.packet.simulation import Flows, Options, simulate
from weft.engines.packet.tables import FlowControl
from weft.engines.packet.wiring import leaf_spine, shortest_routes

PS_PER_BYTE = 20
PROPAGATION = 500_000
MTU = 4096
FRAME = MTU * PS_PER_BYTE
LATENCY = 3 * (FRAME + PROPAGATION) + PROPAGATION
ROUND_TRIP = LATENCY + FRAME + 4 * (64 * PS_PER_BYTE + PROPAGATION)
"""A grant to the sender over four links, and a packet back."""
START = 4 * MTU
MIB = 1 << 20
NETWORK = leaf_spine(
    leaves=8, hosts_per_leaf=8, spines=8, bytes_per_s=50e9, propagation_s=500e-9
)


def incast(senders, size_bytes=4 * MIB, until_ps=1 << 41, **options):
    work = Flows(
        source=np.arange(8, 8 + senders),
        target=np.zeros(senders, np.int64),
        size_bytes=np.full(senders, size_bytes),
    )
    return simulate(NETWORK, work, Options(congestion="rccc", **options), until_ps=until_ps)


def queue_at(senders, at_ps, **knobs):
    outcome = incast(senders, until_ps=at_ps, knobs=knobs)
    return int(outcome.links.queue_bytes[shortest_routes(NETWORK).last_link[0]])


@pytest.mark.parametrize("flow_control", [FlowControl.PFC, FlowControl.NONE, FlowControl.CBFC])
@pytest.mark.parametrize("senders", [8, 32, 56])
def test_an_incast_keeps_the_line_busy_and_ends_for_all_at_once(senders, flow_control):
    """T = N S / C and a path; what waits began unasked; shares are equal but for a head start.

    While k senders are known they share 4 grants a packet, so the first gets 4 H_N more.
    """
    outcome = incast(senders, flow_control=flow_control)
    ideal = senders * 4 * MIB * PS_PER_BYTE + LATENCY
    assert ideal <= outcome.completion_ps <= ideal + 4 * ROUND_TRIP
    head_start = 4 * (1 / np.arange(1, senders + 1)).sum() + 1
    assert np.ptp(outcome.end_ps) <= head_start * senders * FRAME
    rate = 1 / outcome.end_ps
    assert rate.sum() ** 2 / (senders * (rate**2).sum()) > 0.9999
    assert outcome.links.largest_queue_bytes.max() <= senders * START
    counts = outcome.counts
    assert counts["pauses"] == counts["trims"] == counts["drops"] == 0
    assert counts["grants"] == senders * (4 * MIB - START) // MTU
    assert counts["packets_alive"] == 0


@pytest.mark.parametrize("senders", [8, 56])
@pytest.mark.parametrize("more", [0, 40])
def test_the_queue_settles_at_what_is_granted_beyond_the_round_trip(senders, more):
    """Q = base_rtt C - (round trip) C: near empty where the knob is the round trip."""
    base = ROUND_TRIP + more * FRAME
    queue = queue_at(senders, 400_000_000, base_rtt_ps=base)
    assert queue == pytest.approx(more * MTU, abs=3 * MTU)


def test_one_flow_reaches_line_rate_within_a_few_round_trips():
    outcome = incast(1, 32 * MIB)
    alone = 32 * MIB * PS_PER_BYTE + LATENCY
    assert outcome.completion_ps <= alone + 4 * ROUND_TRIP


def test_what_is_trimmed_at_the_start_is_sent_again():
    """The queue holds less than what 32 senders begin with; all bytes arrive all the same."""
    outcome = incast(32, MIB, flow_control=FlowControl.NONE, queue_limit_bytes=100_000)
    assert outcome.counts["trims"] > 0
    assert (outcome.received_bytes == MIB).all()
    assert outcome.counts["packets_alive"] == 0


def test_flows_that_fit_in_the_first_window_need_no_grant():
    outcome = incast(8, START)
    assert outcome.counts["grants"] == 0
    assert outcome.completion_ps == 8 * START * PS_PER_BYTE + LATENCY


NARROW = leaf_spine(
    leaves=2, hosts_per_leaf=8, spines=1, bytes_per_s=50e9, propagation_s=500e-9
)
"""Eight hosts a leaf, and one link between each leaf and the other: 8:1."""
BY_MARKS = {"base_rtt_ps": 1e12, "grant_rate_ratio": 0.99, "rate_interval_ps": 18e6}


def across(size_bytes, begin_ps=0, later=(), **knobs):
    """Send from every host of a leaf to one of the other, then what begins later."""
    work = Flows(
        source=np.append(np.arange(8), [one[0] for one in later]).astype(np.int64),
        target=np.append(np.arange(8, 16), [one[1] for one in later]).astype(np.int64),
        size_bytes=np.full(8 + len(later), size_bytes),
        begin_ps=np.append(np.full(8, begin_ps), [one[2] for one in later]).astype(np.int64),
    )
    return simulate(NARROW, work, Options(
        congestion="rccc", balancing="mixed", flow_control=FlowControl.NONE, recovery="trim",
        queue_limit_bytes=50 * MTU, kmin_bytes=12 * MTU, kmax_bytes=37 * MTU, pmax_ratio=1.0,
        knobs={**BY_MARKS, "start_window_bytes": 40 * MTU, **knobs},
    ))  # fmt: skip


@pytest.mark.parametrize("size_bytes", [MIB, 4 * MIB])
def test_no_receiver_falls_below_the_least_rate(size_bytes):
    """T <= S / (0.99 C least) and what begins unasked; least = 1/8 of 8:1 is a fair share."""
    shared_ps = 8 * size_bytes * PS_PER_BYTE
    latest_ps = shared_ps / 0.99 + 5 * ROUND_TRIP
    assert shared_ps <= across(size_bytes, least_rate_ratio=1 / 8).completion_ps <= latest_ps
    assert across(size_bytes, least_rate_ratio=0.01).completion_ps > latest_ps


def test_a_receiver_at_rest_finds_its_rate_again():
    """Growing by 0.05 every 18 us it is back after 0.4 ms, though nothing came meanwhile."""
    late_ps = 10_000_000_000
    outcome = across(4 * MIB, later=[(0, 8, late_ps)], least_rate_ratio=0.75 / 8)
    assert outcome.end_ps[:8].max() < late_ps
    took_ps = outcome.end_ps[8] - late_ps
    assert took_ps <= 4 * MIB * PS_PER_BYTE / 0.99 + LATENCY + 4 * ROUND_TRIP


def test_steps_that_double_bring_the_rate_back_in_their_logarithm():
    """0.01 (2^n - 1) >= 1 - 0.75 / 8 after n = 7 steps of 18 us, where even steps take 91."""
    slow = {"least_rate_ratio": 0.75 / 8, "rate_step_ratio": 0.01}
    late_ps = across(4 * MIB, **slow).completion_ps + 9 * 18_000_000

    def took_ps(**knobs):
        return across(4 * MIB, later=[(0, 8, late_ps)], **slow, **knobs).end_ps[8] - late_ps

    line_ps = 4 * MIB * PS_PER_BYTE / 0.99 + LATENCY + 4 * ROUND_TRIP
    assert took_ps(step_growth_ratio=2) <= line_ps < took_ps()


def test_trims_within_the_network_lower_the_rate_and_come_less_often():
    """At 8:1 more than the least rate is cut inside; trims at the last link lower nothing."""
    free = across(4 * MIB)
    held = across(4 * MIB, trimmed_cut_ratio=1)
    assert held.counts["trims"] < free.counts["trims"] / 1.2
    alone = incast(32, MIB, flow_control=FlowControl.NONE, queue_limit_bytes=100_000)
    same = incast(
        32, MIB, flow_control=FlowControl.NONE, queue_limit_bytes=100_000,
        knobs={"trimmed_cut_ratio": 1},
    )  # fmt: skip
    assert (alone.end_ps == same.end_ps).all()
