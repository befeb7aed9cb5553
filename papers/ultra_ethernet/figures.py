"""NSCC and RCCC of Ultra Ethernet: where queues stand, however many send.

The specification is not at hand; its authors' simulator is, and the figures compare with the
equations that it runs [ultraethernet/uet-htsim, htsim/sim/uec.cpp]. With constants for 100 Gb/s
and 12 us, a = C T / 150 kB: a window shrinks once a round trip T to 1 - gamma (d - D) / d of
itself, d the mean queueing delay and D = 3/4 T its target, and grows by 0.15 a packets. Where
all packets are marked the two balance at

    gamma (1 - D / d) C (T + d) = N 0.15 a s                                                (1)

Thresholds are as its network sets them: marks from 0.2 to 0.8 of what the path holds, trimming
beyond what it holds.
"""

from dataclasses import dataclass

import numpy as np
from reproduction import Curve, Figure, Limit, Number, Paper, Watched, one_switch, watch

from weft.engines.packet.simulation import Options
from weft.engines.packet.tables import FlowControl
from weft.units import rate_from_gbit

RATE_GBIT_PER_S = 400.0
RATE_BYTES_PER_S = rate_from_gbit(RATE_GBIT_PER_S)
PACKET_BYTES = 4096
CONTROL_BYTES = 64
ROUND_TRIP_S = 5e-6
TARGET_S = 0.75 * ROUND_TRIP_S
HELD_BYTES = RATE_BYTES_PER_S * ROUND_TRIP_S
GAMMA = 0.8
GROWTH_BYTES = 0.15 * HELD_BYTES / 150e3 * PACKET_BYTES
SENDERS = (2, 8, 16, 32)
ADAPTED = 32
HALVINGS = 60
PS = 1e12


@dataclass(frozen=True, slots=True, kw_only=True)
class _Set:
    """What differs between the runs."""

    control: str = "nscc"
    adapts: bool = True
    queue_bytes: int = int(HELD_BYTES)
    until_s: float = 3e-3
    step_s: float = 2e-6


def _run(senders: int, chosen: _Set) -> Watched:
    """Let senders share the link, all with a full window at first."""
    own_s = 2 * (PACKET_BYTES + CONTROL_BYTES) / RATE_BYTES_PER_S
    knobs = {"base_rtt_ps": ROUND_TRIP_S * PS}
    if chosen.control == "nscc":
        knobs["target_queue_delay_ps"] = TARGET_S * PS
        knobs |= {} if chosen.adapts else {"adapt_below_ratio": 0.0}
    else:
        knobs["start_window_bytes"] = 1.5 * HELD_BYTES
    options = Options(
        flow_control=FlowControl.NONE, congestion=chosen.control, balancing="spray",
        recovery="trim", mtu_bytes=PACKET_BYTES, control_bytes=CONTROL_BYTES,
        queue_limit_bytes=chosen.queue_bytes, kmin_bytes=int(0.2 * HELD_BYTES),
        kmax_bytes=int(0.8 * HELD_BYTES), pmax_ratio=1.0, knobs=knobs,
    )  # fmt: skip
    return watch(
        one_switch(senders + 1, RATE_GBIT_PER_S, ROUND_TRIP_S - own_s),
        options,
        begin_s=np.zeros(senders),
        until_s=chosen.until_s,
        step_s=chosen.step_s,
    )


def _balance_s(senders: int) -> float:
    """Return the delay at which (1) balances; at least the target."""
    low, high = TARGET_S, 10 * TARGET_S
    for _ in range(HALVINGS):
        delay = (low + high) / 2
        shrinks = GAMMA * (1 - TARGET_S / delay) * RATE_BYTES_PER_S * (ROUND_TRIP_S + delay)
        low, high = (low, delay) if shrinks > senders * GROWTH_BYTES else (delay, high)
    return low


def _late_delay_s(run: Watched) -> float:
    late = run.after(run.time_s[-1] / 2)
    return float(run.queue_bytes[late].mean()) / RATE_BYTES_PER_S


def _use_ratio(run: Watched) -> float:
    late = run.after(run.time_s[-1] / 2)
    return float(run.rates_bytes_per_s()[late[1:]].sum(1).mean() / RATE_BYTES_PER_S)


def _delay() -> Figure:
    """Return the mean queueing delay by number of senders beside the balance of (1)."""
    runs = {senders: _run(senders, _Set()) for senders in SENDERS}
    delay_s = {senders: _late_delay_s(run) for senders, run in runs.items()}
    x = np.array(SENDERS, float)
    return Figure(
        name="delay_by_senders",
        title="NSCC: queueing delay by number of senders",
        setup="incast at 400 Gb/s, 5 us without queues. The delay stands above its target by "
        "what all senders grow in a round trip; 64 senders of a packet or two each fill the "
        "queue to its end and are left out",
        x="senders",
        y="queueing delay (us)",
        curves=(
            Curve(name="simulated", x=x, y=1e6 * np.array(list(delay_s.values()))),
            Curve(name="balance (1)", x=x, y=1e6 * np.array([_balance_s(n) for n in SENDERS])),
            Curve(name="target", x=x, y=np.full(len(x), 1e6 * TARGET_S)),
        ),
        numbers=(
            *(
                Number(
                    name=f"queueing delay of {senders} senders", unit="s",
                    published=_balance_s(senders), simulated=delay_s[senders],
                    tolerance_ratio=0.1, place="uec.cpp: balance (1) of its constants",
                )
                for senders in SENDERS
            ),
            Limit(
                name="use of the link", unit="ratio", at_least=0.99,
                simulated=min(_use_ratio(run) for run in runs.values()),
                place="NSCC: windows fill the path",
            ),
        ),
    )  # fmt: skip


def _settled_s(run: Watched) -> float:
    """Return when the queue first is at twice the target or below, after the burst."""
    delay_s = run.queue_bytes / RATE_BYTES_PER_S
    top = int(delay_s.argmax())
    return float(run.time_s[top:][delay_s[top:] <= 2 * TARGET_S][0])


def _adaptation() -> Figure:
    """Return how a burst that nothing trims drains, with quick adaptation and without."""
    with_it, without = (
        _run(ADAPTED, _Set(adapts=one, queue_bytes=1 << 30, until_s=0.5e-3))
        for one in (True, False)
    )
    burst_s, period_s = 1.5 * ADAPTED * ROUND_TRIP_S, ROUND_TRIP_S + TARGET_S
    return Figure(
        name="quick_adaptation",
        title="NSCC: a burst of 32 full windows drains",
        setup="the same incast into a buffer that takes it all. A sender whose packets are "
        "late by four targets sets its window to what arrived in the last round trip and "
        "target, so all together hold what the path and the target hold, and the burst drains "
        "as if nothing followed it",
        x="time (us)",
        y="queueing delay (us)",
        curves=tuple(
            Curve(
                name=name, x=1e6 * run.time_s, y=1e6 * run.queue_bytes / RATE_BYTES_PER_S
            )
            for name, run in (("adapting", with_it), ("not adapting", without))
        ),
        numbers=(
            Limit(
                name="queue back at twice the target", unit="s",
                at_most=burst_s + 2 * period_s, at_least=burst_s - 2 * TARGET_S,
                simulated=_settled_s(with_it),
                place="uec.cpp: 1.5 N T to drain, and a period or two to notice",
            ),
            Limit(
                name="later without it, by", unit="s", at_least=0.0,
                simulated=_settled_s(without) - _settled_s(with_it),
                place="uec.cpp: what it is for",
            ),
        ),
    )  # fmt: skip


def _receiver() -> Figure:
    """Return the queue in front of the receiver under its own credit."""
    deep = _Set(
        control="rccc", queue_bytes=1 << 30, until_s=2e-3,
    )  # fmt: skip
    runs = {senders: _run(senders, deep) for senders in SENDERS}
    trimmed = _run(SENDERS[-1], _Set(control="rccc", until_s=1e-3))
    late_bytes = {n: _late_delay_s(run) * RATE_BYTES_PER_S for n, run in runs.items()}
    x = np.array(SENDERS, float)
    return Figure(
        name="receiver_credit",
        title="RCCC: queue in front of the receiver by number of senders",
        setup="the same incast; senders begin with 1.5 times what the path holds, as those of "
        "the reference do, into a buffer that takes it all. Its receivers grant four packets "
        "at a time, at 0.99 of the line by a clock; here an arrival lets a receiver grant, so "
        "the line is used whole",
        x="senders",
        y="queue (packets)",
        curves=(
            Curve(
                name="simulated", x=x,
                y=np.array(list(late_bytes.values())) / PACKET_BYTES,
            ),
            Curve(name="what began unasked", x=x, y=1.5 * x * HELD_BYTES / PACKET_BYTES),
        ),
        numbers=(
            Limit(
                name="queue after the first burst, most of all", unit="packets", at_most=4,
                simulated=max(late_bytes.values()) / PACKET_BYTES,
                place="uec.cpp: a grant of four packets a turn, no faster than the line",
            ),
            Limit(
                name="use of the link", unit="ratio", at_least=0.99,
                simulated=min(_use_ratio(run) for run in (*runs.values(), trimmed)),
                place="uec.cpp: grants at 0.99 of the line, also where the burst is trimmed",
            ),
        ),
    )  # fmt: skip


PAPER = Paper(
    title="Ultra Ethernet: congestion control at the sender (NSCC) and receiver (RCCC)",
    source="Ultra Ethernet Specification 1.0, through the consortium's reference simulator, "
    "ultraethernet/uet-htsim",
    control="nscc, rccc",
    figures=(_delay, _adaptation, _receiver),
)
