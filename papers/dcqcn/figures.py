"""DCQCN: where the queue settles, and when two flows share fairly. [Zhu et al., SIGCOMM 2015]

Section 5 of the paper gives a fluid model (equations 5 to 9), shows in figure 10 that it
describes the implementation, and picks the parameters by it: 40 Gb/s, Kmin 5 KB, Kmax 200 KB,
Pmax 1 %, g 1/256, timer 55 us, byte counter 10 MB, additive increase 40 Mb/s, CNPs 50 us apart.
"""

from collections.abc import Sequence
from functools import partial

import numpy as np
from reproduction import (
    Curve,
    Figure,
    Limit,
    Number,
    Paper,
    Watched,
    jain_ratio,
    one_switch,
    watch,
)

from weft.engines.packet.simulation import Options
from weft.engines.packet.tables import FlowControl
from weft.units import rate_from_gbit

RATE_GBIT_PER_S = 40.0
RATE_BYTES_PER_S = rate_from_gbit(RATE_GBIT_PER_S)
PACKET_BYTES = 1000
ROUND_TRIP_S = 4e-6
CNP_S = 50e-6
TIMER_S = 55e-6
BYTE_COUNTER_BYTES = 10e6
ADDITIVE_RATIO = 0.001
STAGES = 5
KMIN_BYTES, KMAX_BYTES, PMAX = 5_000, 200_000, 0.01


def _options(**changes: object) -> Options:
    knobs = {
        "gain_ratio": 1 / 256, "alpha_timer_ps": 55e6, "rate_timer_ps": TIMER_S * 1e12,
        "byte_counter_bytes": BYTE_COUNTER_BYTES, "additive_increase_ratio": ADDITIVE_RATIO,
        "fast_recovery_stages": STAGES,
    }  # fmt: skip
    knobs |= changes.pop("knobs", {})  # type: ignore[operator]
    settings = {
        "flow_control": FlowControl.PFC, "congestion": "dcqcn", "mtu_bytes": PACKET_BYTES,
        "kmin_bytes": KMIN_BYTES, "kmax_bytes": KMAX_BYTES, "pmax_ratio": PMAX,
        "cnp_gap_ps": int(CNP_S * 1e12), "xoff_bytes": 1 << 30, "xon_bytes": 1 << 29,
    } | changes  # fmt: skip
    return Options(**settings, knobs=knobs)  # type: ignore[arg-type]


def _run(
    senders: int,
    *,
    until_s: float,
    step_s: float,
    begin_s: Sequence[float] | None = None,
    **changes: object,
) -> Watched:
    """Let senders share the link."""
    wiring = one_switch(senders + 1, RATE_GBIT_PER_S, ROUND_TRIP_S)
    begin = np.zeros(senders) if begin_s is None else np.array(begin_s)
    return watch(wiring, _options(**changes), begin_s=begin, until_s=until_s, step_s=step_s)


def settled_marking_ratio(senders: int) -> float:
    """Solve the fluid model for its fixed point: the marking probability. [equations 5 to 9]

    All rates are C/N and all derivatives zero; alpha and the target rate follow from p.
    """
    rate = RATE_BYTES_PER_S / PACKET_BYTES / senders
    low, high = 1e-9, PMAX
    for _ in range(200):
        middle = (low * high) ** 0.5
        low, high = (middle, high) if _rate_of_change(middle, rate) > 0 else (low, middle)
    return low


def _rate_of_change(p: float, rate: float) -> float:
    """Return dR/dt of a flow at a rate (packets/s) once alpha and its target have settled."""
    survives = np.log1p(-p)
    alpha = -np.expm1(survives * TIMER_S * rate)
    cut = -np.expm1(survives * CNP_S * rate)
    bytes_packets, timer_packets = BYTE_COUNTER_BYTES / PACKET_BYTES, TIMER_S * rate
    by_bytes = rate * p / np.expm1(-survives * bytes_packets)
    by_timer = rate * p / np.expm1(-survives * timer_packets)
    increase = ADDITIVE_RATIO * RATE_BYTES_PER_S / PACKET_BYTES
    gain = increase * (
        np.exp(survives * STAGES * bytes_packets) * by_bytes
        + np.exp(survives * STAGES * timer_packets) * by_timer
    )
    above = gain * CNP_S / cut
    return float(-rate * alpha * cut / (2 * CNP_S) + above / 2 * (by_bytes + by_timer))


def _queue(senders: int) -> Figure:
    """Return the queue of N flows beside the fixed point of the model."""
    seen = _run(senders, until_s=60e-3, step_s=20e-6)
    late = seen.after(30e-3)
    marked = settled_marking_ratio(senders)
    published = KMIN_BYTES + marked / PMAX * (KMAX_BYTES - KMIN_BYTES)
    return Figure(
        name=f"queue_of_{senders}",
        title=f"Queue of {senders} flows",
        setup=f"{senders} senders of 40 Gb/s, one receiver, 4 us round trip",
        x="time (ms)",
        y="queue (KB)",
        curves=(
            Curve(name="simulated", x=1e3 * seen.time_s, y=seen.queue_bytes / 1e3),
            Curve(
                name="fixed point of the model",
                x=np.array([0.0, 60.0]),
                y=np.full(2, published / 1e3),
            ),
        ),
        numbers=(
            Number(
                name="mean queue",
                unit="bytes",
                published=published,
                simulated=float(seen.queue_bytes[late].mean()),
                tolerance_ratio=0.3,
                place="fixed point of equations 5 to 9",
            ),
        ),
    )


def _sharing() -> Figure:
    """Return two flows, the second of which comes 10 ms later. [figures 10 and 11]"""
    seen = _run(2, until_s=0.2, step_s=1e-3, begin_s=(0.0, 0.01))
    rates = seen.rates_bytes_per_s() / RATE_BYTES_PER_S
    late = seen.after(0.05)[1:]
    return Figure(
        name="two_flows",
        title="Two flows share the link",
        setup="the second flow begins 10 ms after the first, at line rate",
        x="time (ms)",
        y="rate (share of the link)",
        curves=tuple(
            Curve(name=f"flow {flow + 1}", x=1e3 * seen.time_s[1:], y=rates[:, flow])
            for flow in (0, 1)
        ),
        numbers=(
            Limit(
                name="Jain's index from 50 ms on", unit="ratio", at_least=0.99,
                simulated=jain_ratio(rates[late].mean(0)),
                place="figure 11 (d): with the chosen parameters flows converge",
            ),
            Limit(
                name="use of the link from 50 ms on", unit="ratio", at_least=0.99,
                simulated=float(rates[late].sum(1).mean()),
                place="section 5.2: the link stays fully used",
            ),
        ),
    )  # fmt: skip


def _gain(senders: int) -> Figure:
    """Return the queue with a coarse and with a fine gain. [figure 12]"""
    runs = {
        f"g = 1/{inverse}": _run(
            senders, until_s=60e-3, step_s=20e-6, knobs={"gain_ratio": 1 / inverse}
        )
        for inverse in (16, 256)
    }
    late = {name: one.queue_bytes[one.after(30e-3)] for name, one in runs.items()}
    coarse, fine = late.values()
    return Figure(
        name=f"gain_at_{senders}",
        title=f"Queue of {senders} flows by the gain of alpha",
        setup=f"{senders} senders of 40 Gb/s, one receiver",
        x="time (ms)",
        y="queue (KB)",
        curves=tuple(
            Curve(name=name, x=1e3 * one.time_s[::4], y=one.queue_bytes[::4] / 1e3)
            for name, one in runs.items()
        ),
        numbers=(
            Limit(
                name="swing (standard deviation) at 1/16 over that at 1/256",
                unit="ratio", at_least=1.0, simulated=float(coarse.std() / fine.std()),
                place="figure 12: a smaller g gives a steadier queue",
            ),
        ),
    )  # fmt: skip


PAPER = Paper(
    title="Congestion Control for Large-Scale RDMA Deployments (DCQCN)",
    source="Zhu et al., SIGCOMM 2015, doi:10.1145/2785956.2787484",
    control="dcqcn",
    figures=(
        partial(_queue, 2), partial(_queue, 4), partial(_queue, 8),
        _sharing, partial(_gain, 2), partial(_gain, 16),
    ),
)  # fmt: skip
