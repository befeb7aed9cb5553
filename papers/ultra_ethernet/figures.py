"""NSCC of Ultra Ethernet: queues stand at the target delay, however many send.

Specification 1.0 of the Ultra Ethernet Consortium: a sender grows in proportion to the room
left below the target queueing delay, and shrinks above it at packets that are marked. Target
and thresholds as its reference simulator sets them: 3/4 of a round trip without queues, marks
from 0.2 to 0.8 of what the path holds, trimming beyond what it holds.
"""

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
SENDERS = (2, 8, 32, 64)
PS = 1e12


def _run(senders: int) -> Watched:
    """Let senders share the link, all with a full window at first."""
    own_s = 2 * (PACKET_BYTES + CONTROL_BYTES) / RATE_BYTES_PER_S
    options = Options(
        flow_control=FlowControl.NONE, congestion="nscc", balancing="spray", recovery="trim",
        mtu_bytes=PACKET_BYTES, control_bytes=CONTROL_BYTES, queue_limit_bytes=int(HELD_BYTES),
        kmin_bytes=int(0.2 * HELD_BYTES), kmax_bytes=int(0.8 * HELD_BYTES), pmax_ratio=1.0,
        knobs={
            "base_rtt_ps": ROUND_TRIP_S * PS, "target_queue_delay_ps": TARGET_S * PS,
            "largest_window_bytes": 1.5 * HELD_BYTES,
        },
    )  # fmt: skip
    return watch(
        one_switch(senders + 1, RATE_GBIT_PER_S, ROUND_TRIP_S - own_s),
        options,
        begin_s=np.zeros(senders),
        until_s=3e-3,
        step_s=2e-6,
    )


def _delay() -> Figure:
    """Return the mean queueing delay by number of senders beside the target."""
    runs = {senders: _run(senders) for senders in SENDERS}
    late = {senders: one.after(1.5e-3) for senders, one in runs.items()}
    delay_s = {
        senders: one.queue_bytes[late[senders]].mean() / RATE_BYTES_PER_S
        for senders, one in runs.items()
    }
    used = [
        one.rates_bytes_per_s()[late[senders][1:]].sum(1).mean() / RATE_BYTES_PER_S
        for senders, one in runs.items()
    ]
    x = np.array(SENDERS, float)
    return Figure(
        name="delay_by_senders",
        title="Queueing delay by number of senders",
        setup="incast at 400 Gb/s, 5 us without queues; the quick adaptation of the "
        "specification, which shortens the first round trips, is not modelled",
        x="senders",
        y="queueing delay (us)",
        curves=(
            Curve(name="simulated", x=x, y=1e6 * np.array(list(delay_s.values()))),
            Curve(name="target", x=x, y=np.full(len(x), 1e6 * TARGET_S)),
        ),
        numbers=(
            *(
                Number(
                    name=f"queueing delay of {senders} senders", unit="s", published=TARGET_S,
                    simulated=float(delay_s[senders]), tolerance_ratio=0.1,
                    place="NSCC: target queueing delay",
                )
                for senders in SENDERS
            ),
            Limit(
                name="use of the link", unit="ratio", at_least=0.99,
                simulated=float(min(used)), place="NSCC: windows fill the path",
            ),
        ),
    )  # fmt: skip


PAPER = Paper(
    title="Ultra Ethernet: network-signalled congestion control (NSCC)",
    source="Ultra Ethernet Specification 1.0, Ultra Ethernet Consortium, 2025",
    control="nscc",
    figures=(_delay,),
)
