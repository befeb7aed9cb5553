"""Swift: hold the delay at a target that grows as the window shrinks. [SIGCOMM 2020]

The paper splits delay into fabric and end host; hosts here drain at once, so one delay is
compared with one target: base + range * clamp(scale / sqrt(window) - offset).
"""

from math import sqrt

from weft.engines.packet.control import Control
from weft.engines.packet.tables import Feedback
from weft.kernel import inner

LAST_CUT, DELAY = range(2)
BASE, RANGE, SMALLEST, LARGEST, INCREASE, BETA, MOST, SEGMENT, START = range(9)


@inner
def _begin(flow, knobs, line_ps_per_byte, now):
    flow.window_bytes = knobs[START]
    flow.pace_ps_per_byte = 0.0
    flow.cc[LAST_CUT] = now
    flow.cc[DELAY] = 0.0


@inner
def _target(flow, knobs):
    """Return base + range * clamp(alpha / sqrt(w) + beta, 0, 1), w in packets. [section 3.5]"""
    window = max(flow.window_bytes / knobs[SEGMENT], knobs[SMALLEST])
    low, high = 1.0 / sqrt(knobs[LARGEST]), 1.0 / sqrt(knobs[SMALLEST])
    share = (1.0 / sqrt(window) - low) / (high - low)
    return knobs[BASE] + knobs[RANGE] * min(1.0, max(0.0, share))


@inner
def _ack(flow, knobs, line_ps_per_byte, payload_bytes, marked, round_trip, now):
    """Increase by a constant a round trip below target; cut once a round trip above it."""
    target = _target(flow, knobs)
    segment = knobs[SEGMENT]
    flow.cc[DELAY] = round_trip
    if round_trip < target:
        grown = payload_bytes / max(flow.window_bytes, segment)
        flow.window_bytes += knobs[INCREASE] * segment * grown
    elif now - flow.cc[LAST_CUT] >= round_trip:
        excess = knobs[BETA] * (round_trip - target) / round_trip
        flow.window_bytes *= 1.0 - min(excess, knobs[MOST])
        flow.cc[LAST_CUT] = now
    flow.window_bytes = min(
        knobs[LARGEST] * segment, max(knobs[SMALLEST] * segment, flow.window_bytes)
    )


@inner
def _loss(flow, knobs, line_ps_per_byte, payload_bytes, now):
    """Cut by the largest step, at most once a round trip. [section 3.3]"""
    if now - flow.cc[LAST_CUT] >= flow.cc[DELAY]:
        flow.window_bytes = max(
            knobs[SMALLEST] * knobs[SEGMENT], flow.window_bytes * (1.0 - knobs[MOST])
        )
        flow.cc[LAST_CUT] = now


swift = Control(
    title="Swift: delay against a target",
    feedback=Feedback.ACK,
    marking=False,
    knobs={
        "base_target_ps": 10e6,
        "flow_scaling_range_ps": 15e6,
        "smallest_window_packets": 1.0,
        "largest_window_packets": 256.0,
        "additive_increase_packets": 1.0,
        "beta_ratio": 0.8,
        "most_decrease_ratio": 0.5,
        "segment_bytes": 4096,
        "start_window_bytes": 250_000,
    },
    source="Kumar et al., Swift: Delay is Simple and Effective, SIGCOMM 2020",
    on_begin=_begin,
    on_ack=_ack,
    on_loss=_loss,
)
