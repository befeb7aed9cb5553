"""DCTCP: how far the queue swings, and how often. [Alizadeh et al., SIGCOMM 2010]

Section 3.3 of the paper models N long flows that share a link of C packets a second, with a
round trip of R and a marking threshold of K packets, and compares the model with ns-2 in
figure 12: 10 Gb/s, R = 100 us, K = 40, g = 1/16.
"""

from functools import partial
from math import sqrt

import numpy as np
from reproduction import Curve, Figure, Floats, Limit, Number, Paper, Watched, one_switch, watch

from weft.engines.packet.simulation import Options
from weft.engines.packet.tables import FlowControl
from weft.units import rate_from_gbit

PACKET_BYTES = 1500
RATE_GBIT_PER_S = 10.0
ROUND_TRIP_S = 100e-6
CAPACITY_PACKETS = rate_from_gbit(RATE_GBIT_PER_S) * ROUND_TRIP_S / PACKET_BYTES
THRESHOLD_PACKETS = 40
SETTLED_S = 20e-3
UNTIL_S = 50e-3
STEP_S = 10e-6
MOST_IN_STEP = 10


def _run(senders: int, threshold_packets: float) -> Watched:
    """Let long flows share the link, each with its share of what it holds from the start."""
    start = (CAPACITY_PACKETS + threshold_packets) / senders * PACKET_BYTES
    options = Options(
        flow_control=FlowControl.NONE,
        congestion="dctcp",
        mtu_bytes=PACKET_BYTES,
        control_bytes=40,
        kmin_bytes=int(threshold_packets * PACKET_BYTES),
        kmax_bytes=int(threshold_packets * PACKET_BYTES),
        pmax_ratio=1.0,
        knobs={
            "gain_ratio": 1 / 16,
            "segment_bytes": PACKET_BYTES,
            "start_window_bytes": start,
            "largest_window_bytes": 1e9,
        },
    )
    serialisation_s = 2 * PACKET_BYTES / rate_from_gbit(RATE_GBIT_PER_S)
    wiring = one_switch(senders + 1, RATE_GBIT_PER_S, ROUND_TRIP_S - serialisation_s)
    # Flows that begin together stay in step, as the model assumes.
    begin_s = np.zeros(senders)
    return watch(wiring, options, begin_s=begin_s, until_s=UNTIL_S, step_s=STEP_S)


def _swing(senders: int) -> Figure:
    """Return the queue of N flows in step beside the model's sawtooth. [figure 12]"""
    seen = _run(senders, THRESHOLD_PACKETS)
    late = seen.after(SETTLED_S)
    queue = seen.queue_bytes[late] / PACKET_BYTES
    shown = seen.time_s[late] < SETTLED_S + 5e-3
    return Figure(
        name=f"queue_of_{senders}",
        title=f"Queue of {senders} long flows",
        setup=f"{senders} senders of {RATE_GBIT_PER_S:g} Gb/s, one receiver; "
        "ns-2 in the paper, byte counters in place of packet counters here",
        x="time (ms)",
        y="queue (packets)",
        curves=(
            Curve(
                name="simulated",
                x=1e3 * (seen.time_s[late][shown] - SETTLED_S),
                y=queue[shown],
            ),
        ),
        numbers=_in_step(senders, seen.time_s[late], queue),
    )


def _in_step(senders: int, time_s: Floats, queue: Floats) -> tuple[Number | Limit, ...]:
    """Return the sawtooth's numbers; flows that fall out of step swing less than the model."""
    held = CAPACITY_PACKETS + THRESHOLD_PACKETS
    largest, smallest = np.percentile(queue, [99.5, 0.5])
    most = THRESHOLD_PACKETS + senders
    swing = 0.5 * sqrt(2 * senders * held)
    period_s = 0.5 * sqrt(2 * held / senders) * ROUND_TRIP_S * held / CAPACITY_PACKETS
    if senders > MOST_IN_STEP:
        return (
            Limit(
                name="largest queue",
                unit="packets",
                at_most=most,
                simulated=largest,
                place="equation 9: flows out of step stay below K + N",
            ),
            Limit(
                name="swing of the queue",
                unit="packets",
                at_most=swing,
                simulated=largest - smallest,
                place="section 3.3: out of step, the queue swings less than equation 7 says",
            ),
        )
    return (
            Number(
                name="largest queue", unit="packets", published=most,
                simulated=largest, tolerance_ratio=0.1,
                place="equation 9, Q_max = K + N",
            ),
            Number(
                name="swing of the queue", unit="packets", published=swing,
                simulated=largest - smallest, tolerance_ratio=0.25,
                place="equation 7, A = sqrt(2 N (C R + K)) / 2",
            ),
            Number(
                name="period", unit="s", published=period_s,
                simulated=_period_s(time_s, queue), tolerance_ratio=0.25,
                place="equation 8, T = sqrt(2 (C R + K) / N) / 2 round trips, queue included",
            ),
    )  # fmt: skip


def _period_s(time_s: Floats, queue: Floats) -> float:
    """Return the period of the strongest swing."""
    power = np.abs(np.fft.rfft(queue - queue.mean())) ** 2
    hertz = np.fft.rfftfreq(len(queue), time_s[1] - time_s[0])
    return float(1 / hertz[1:][power[1:].argmax()])


def _thresholds() -> Figure:
    """Return the throughput of two flows by threshold. [equation 13 and section 3.4]"""
    enough = CAPACITY_PACKETS / 7
    thresholds = np.array([1, 2, 4, 8, 14, 20, 40])
    shares = np.array([_share(_run(2, one)) for one in thresholds])
    return Figure(
        name="throughput_by_threshold",
        title="Throughput by marking threshold",
        setup="two flows; the paper measured servers, whose bursts of 30 to 40 packets need "
        "K = 65 at 10 Gb/s; senders here do not burst",
        x="threshold K (packets)",
        y="share of the line (per cent)",
        curves=(Curve(name="simulated", x=thresholds.astype(float), y=100 * shares),),
        numbers=(
            Limit(
                name=f"share of the line from K = {np.ceil(enough):g} = C R / 7 on",
                unit="ratio", at_least=0.99, simulated=float(shares[thresholds > enough].min()),
                place="equation 13",
            ),
            Limit(
                name="share of the line at K = 1", unit="ratio", at_most=0.98,
                simulated=float(shares[0]), place="equation 13: below it throughput is lost",
            ),
        ),
    )  # fmt: skip


def _share(seen: Watched) -> float:
    late = seen.delivered_bytes[seen.after(SETTLED_S)].sum(1)
    time_s = seen.time_s[seen.after(SETTLED_S)]
    rate = (late[-1] - late[0]) / (time_s[-1] - time_s[0])
    return float(rate / rate_from_gbit(RATE_GBIT_PER_S))


PAPER = Paper(
    title="Data Center TCP (DCTCP)",
    source="Alizadeh et al., SIGCOMM 2010, doi:10.1145/1851182.1851192",
    control="dctcp",
    figures=(partial(_swing, 2), partial(_swing, 10), partial(_swing, 40), _thresholds),
)
