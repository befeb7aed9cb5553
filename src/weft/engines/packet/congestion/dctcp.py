"""DCTCP: cut the window by half of the marked share. [Alizadeh et al., SIGCOMM 2010]"""

from weft.engines.packet.control import Control, ignore_cnp, ignore_send
from weft.engines.packet.tables import Feedback
from weft.kernel import inner

ALPHA, ACKED, MARKED, ROUND = range(4)
GAIN, SEGMENT, START, LARGEST = range(4)


@inner
def _begin(flow, knobs, line_ps_per_byte, now):
    flow.window_bytes = knobs[START]
    flow.pace_ps_per_byte = 0.0
    flow.cc[ALPHA] = 0.0
    flow.cc[ACKED] = 0.0
    flow.cc[MARKED] = 0.0
    flow.cc[ROUND] = knobs[START]


@inner
def _ack(flow, knobs, line_ps_per_byte, payload_bytes, marked, round_trip, now):
    """Once a window: alpha <- (1 - g) alpha + g F, window <- window (1 - alpha / 2)."""
    flow.cc[ACKED] += payload_bytes
    if marked:
        flow.cc[MARKED] += payload_bytes
    if flow.cc[ACKED] < flow.cc[ROUND]:
        return
    share = flow.cc[MARKED] / flow.cc[ACKED]
    flow.cc[ALPHA] = (1.0 - knobs[GAIN]) * flow.cc[ALPHA] + knobs[GAIN] * share
    if flow.cc[MARKED] > 0.0:
        flow.window_bytes = max(
            knobs[SEGMENT], flow.window_bytes * (1.0 - 0.5 * flow.cc[ALPHA])
        )
    else:
        flow.window_bytes = min(knobs[LARGEST], flow.window_bytes + knobs[SEGMENT])
    flow.cc[ACKED] = 0.0
    flow.cc[MARKED] = 0.0
    flow.cc[ROUND] = flow.window_bytes


@inner
def _loss(flow, knobs, line_ps_per_byte, payload_bytes, now):
    """Give up half of what was lost; a whole window lost halves the window, as in TCP."""
    flow.window_bytes = max(knobs[SEGMENT], flow.window_bytes - 0.5 * payload_bytes)


dctcp = Control(
    title="DCTCP: a window cut by the share of marked packets",
    feedback=Feedback.ACK,
    marking=True,
    knobs={
        "gain_ratio": 1 / 16,
        "segment_bytes": 4096,
        "start_window_bytes": 250_000,
        "largest_window_bytes": 1_000_000,
    },
    source="Alizadeh et al., Data Center TCP, SIGCOMM 2010",
    on_begin=_begin,
    on_send=ignore_send,
    on_ack=_ack,
    on_cnp=ignore_cnp,
    on_loss=_loss,
)
