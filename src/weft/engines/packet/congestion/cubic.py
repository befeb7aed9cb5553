"""CUBIC: grow along a cubic of the time since the last loss. [RFC 9438]"""

from weft.engines.packet.control import Control
from weft.engines.packet.tables import Feedback
from weft.kernel import inner

BEFORE_LOSS, LOSS_AT, SLOW_START, ROUND_TRIP, PLATEAU_AFTER = range(5)
C, BETA, SEGMENT, START, LARGEST = range(5)
PS_PER_S = 1e12


@inner
def _begin(flow, knobs, line_ps_per_byte, now):
    flow.window_bytes = knobs[START]
    flow.pace_ps_per_byte = 0.0
    flow.cc[BEFORE_LOSS] = knobs[START]
    flow.cc[LOSS_AT] = now
    flow.cc[SLOW_START] = 1.0
    flow.cc[ROUND_TRIP] = 0.0
    flow.cc[PLATEAU_AFTER] = 0.0


@inner
def _ack(flow, knobs, line_ps_per_byte, payload_bytes, marked, round_trip, now):
    """W(t) = C (t - K)^3 + W_max in segments and seconds. [RFC 9438, equation 1]"""
    flow.cc[ROUND_TRIP] = round_trip
    if flow.cc[SLOW_START] > 0.0:
        flow.window_bytes = min(knobs[LARGEST], flow.window_bytes + payload_bytes)
        return
    since = (now - flow.cc[LOSS_AT]) / PS_PER_S - flow.cc[PLATEAU_AFTER]
    wanted = flow.cc[BEFORE_LOSS] + knobs[C] * since * since * since * knobs[SEGMENT]
    if wanted > flow.window_bytes:
        step = (wanted - flow.window_bytes) * payload_bytes / flow.window_bytes
        flow.window_bytes = min(knobs[LARGEST], flow.window_bytes + min(step, payload_bytes))


@inner
def _loss(flow, knobs, line_ps_per_byte, payload_bytes, now):
    """W_max = W, W <- beta W, K = cbrt(W_max (1 - beta) / C), at most once a round trip."""
    if flow.cc[SLOW_START] == 0.0 and now - flow.cc[LOSS_AT] < flow.cc[ROUND_TRIP]:
        return
    flow.cc[SLOW_START] = 0.0
    flow.cc[LOSS_AT] = now
    flow.cc[BEFORE_LOSS] = flow.window_bytes
    segments = flow.window_bytes / knobs[SEGMENT]
    flow.cc[PLATEAU_AFTER] = (segments * (1.0 - knobs[BETA]) / knobs[C]) ** (1.0 / 3.0)
    flow.window_bytes = max(knobs[SEGMENT], knobs[BETA] * flow.window_bytes)


cubic = Control(
    title="CUBIC, the congestion control of Linux TCP",
    feedback=Feedback.ACK,
    marking=False,
    knobs={
        "c_segments_per_s3": 0.4,
        "beta_ratio": 0.7,
        "segment_bytes": 4096,
        "start_window_bytes": 40_960,
        "largest_window_bytes": 4_000_000,
    },
    source="RFC 9438, CUBIC for Fast and Long-Distance Networks",
    on_begin=_begin,
    on_ack=_ack,
    on_loss=_loss,
)
