"""DCTCP: cut the window by half of the marked share. [Alizadeh et al., SIGCOMM 2010]"""

from weft.engines.packet.control import Control
from weft.engines.packet.tables import Feedback
from weft.kernel import inner

ALPHA, ACKED, MARKED, ROUND, UNTIL_CUT = range(5)
GAIN, SEGMENT, START, LARGEST = range(4)


@inner
def _begin(flow, knobs, line_ps_per_byte, now):
    flow.window_bytes = knobs[START]
    flow.pace_ps_per_byte = 0.0
    flow.cc[ALPHA] = 1.0
    flow.cc[ACKED] = 0.0
    flow.cc[MARKED] = 0.0
    flow.cc[ROUND] = knobs[START]
    flow.cc[UNTIL_CUT] = 0.0


@inner
def _ack(flow, knobs, line_ps_per_byte, payload_bytes, marked, round_trip, now):
    """Cut by alpha / 2 at a mark, once a window; else grow by one segment a window.

    Once a window: alpha <- (1 - g) alpha + g F, F the marked share. [RFC 8257, section 3.3]
    """
    flow.cc[ACKED] += payload_bytes
    if marked:
        flow.cc[MARKED] += payload_bytes
    if flow.cc[UNTIL_CUT] > 0.0:
        flow.cc[UNTIL_CUT] -= payload_bytes
    elif marked:
        flow.cc[UNTIL_CUT] = flow.window_bytes
        flow.window_bytes *= 1.0 - 0.5 * flow.cc[ALPHA]
    else:
        flow.window_bytes += knobs[SEGMENT] * payload_bytes / flow.window_bytes
    flow.window_bytes = min(knobs[LARGEST], max(knobs[SEGMENT], flow.window_bytes))
    if flow.cc[ACKED] >= flow.cc[ROUND]:
        share = flow.cc[MARKED] / flow.cc[ACKED]
        flow.cc[ALPHA] = (1.0 - knobs[GAIN]) * flow.cc[ALPHA] + knobs[GAIN] * share
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
    source="Alizadeh et al., Data Center TCP, SIGCOMM 2010; RFC 8257",
    on_begin=_begin,
    on_ack=_ack,
    on_loss=_loss,
)
