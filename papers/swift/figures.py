"""Swift: the round trip stands at its target, whatever the number of flows. [SIGCOMM 2020]

Kumar et al., section 3: additive increase 1 packet, beta 0.8, at most half a window less; the
target grows with hops and, as 1/sqrt(window), with the number of flows (equation 4).
"""

from math import sqrt

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
)  # fmt: skip

from weft.engines.packet.simulation import Options
from weft.engines.packet.tables import FlowControl
from weft.units import rate_from_gbit

RATE_GBIT_PER_S = 100.0
RATE_BYTES_PER_S = rate_from_gbit(RATE_GBIT_PER_S)
PACKET_BYTES = 4096
CONTROL_BYTES = 64
START_PACKETS = 10
PS = 1e12
ROUND_TRIP_S = 10e-6
BASE_TARGET_S = 25e-6
RANGE_S = 40e-6
SMALLEST, LARGEST = 0.1, 100.0


SENDERS = (2, 4, 8, 16, 32)


def _run(senders: int) -> Watched:
    """Let senders share the link, beginning within 100 us."""
    own_s = 2 * (PACKET_BYTES + CONTROL_BYTES) / RATE_BYTES_PER_S
    options = Options(
        flow_control=FlowControl.NONE, congestion="swift", mtu_bytes=PACKET_BYTES,
        control_bytes=CONTROL_BYTES,
        knobs={
            "base_target_ps": BASE_TARGET_S * PS, "flow_scaling_range_ps": RANGE_S * PS,
            "smallest_window_packets": SMALLEST, "largest_window_packets": LARGEST,
            "start_window_bytes": START_PACKETS * PACKET_BYTES,
        },
    )  # fmt: skip
    return watch(
        one_switch(senders + 1, RATE_GBIT_PER_S, ROUND_TRIP_S - own_s),
        options,
        begin_s=np.linspace(0, 1e-4, senders),
        until_s=10e-3,
        step_s=10e-6,
    )


def target_s(window_packets: float) -> float:
    """Return the target of a window: base + range x clamp(...). [equation 4]"""
    low, high = 1 / sqrt(LARGEST), 1 / sqrt(SMALLEST)
    share = (1 / sqrt(window_packets) - low) / (high - low)
    return BASE_TARGET_S + RANGE_S * min(1.0, max(0.0, share))


def settled_s(senders: int) -> float:
    """Return the round trip at which N equal windows fill the link and meet their target."""
    window = 1.0
    for _ in range(500):
        full = RATE_BYTES_PER_S * target_s(window) / senders / PACKET_BYTES
        window = 0.5 * (window + full)
    return target_s(window)


def _round_trips() -> Figure:
    """Return the mean round trip by number of flows beside the target."""
    runs = {senders: _run(senders) for senders in SENDERS}
    seen_s = {
        senders: ROUND_TRIP_S + one.queue_bytes[one.after(5e-3)].mean() / RATE_BYTES_PER_S
        for senders, one in runs.items()
    }
    x = np.array(SENDERS, float)
    return Figure(
        name="round_trip_by_flows",
        title="Round trip by number of flows",
        setup="100 Gb/s, 10 us without queues, base target 25 us, flow scaling over 40 us and "
        "windows of 0.1 to 100 packets; up to 32 flows, since the engine does not pace windows "
        "below one packet",
        x="flows",
        y="round trip (us)",
        curves=(
            Curve(name="simulated", x=x, y=1e6 * np.array(list(seen_s.values()))),
            Curve(
                name="target", x=x, y=1e6 * np.array([settled_s(one) for one in SENDERS])
            ),
        ),
        numbers=tuple(
            Number(
                name=f"round trip of {senders} flows", unit="s",
                published=settled_s(senders), simulated=float(seen_s[senders]),
                tolerance_ratio=0.1, place="section 3.5, equation 4: delay follows its target",
            )
            for senders in SENDERS
        )
        + tuple(_even(senders, runs[senders]) for senders in (2, 32)),
    )  # fmt: skip


def _even(senders: int, seen: Watched) -> Limit:
    rates = seen.rates_bytes_per_s()[seen.after(5e-3)[1:]]
    return Limit(
        name=f"Jain's index of {senders} flows", unit="ratio", at_least=0.98,
        simulated=jain_ratio(rates.mean(0)), place="section 4: flows share fairly",
    )  # fmt: skip


PAPER = Paper(
    title="Swift: Delay is Simple and Effective for Congestion Control in the Datacenter",
    source="Kumar et al., SIGCOMM 2020, doi:10.1145/3387514.3406591",
    control="swift",
    figures=(_round_trips,),
)
