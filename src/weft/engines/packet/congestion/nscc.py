"""NSCC: Ultra Ethernet's sender window, driven by marks and delay together. [UEC 1.0]

Four cases a packet: below target and unmarked grows in proportion to the room left, and fast
once a whole window saw no delay; above target and unmarked grows by a constant; below target
and marked waits; above target and marked shrinks once a round trip by the mean delay. Every
round trip adds a little, so that shares become equal. Where packets were trimmed or delay is
four times the target, and little of it arrived in a round trip, the window becomes what arrived
(quick adaptation).

Equations and constants are those of the consortium's reference simulator (htsim, ``uec.cpp``,
whose authors wrote the specification's section on NSCC): they are for 100 Gb/s and 12 us, and
scale with what the path holds and with the target. Growth is applied at every acknowledgement
here, and there after eight packets or a round trip.

``draft_of_2024`` is NSCC as the drafts of July and August 2024 had it: windows also grow by the
constant below the target, evenly every 12 us whatever the round trip; trimmed packets leave
the mean delay alone but always shrink the window, also when it has just been adapted; the mean
delay calls for an adaptation, which never lets a window grow and starts no new round trip of
counting. That of July counted a round trip without the target (``adapt_period_targets`` 0).
"""

from weft.engines.packet.control import Control
from weft.engines.packet.tables import Feedback
from weft.kernel import inner

LAST_CUT, MEAN_DELAY, BASE, GROWN_AT, UNDELAYED, ADAPT_AT, ARRIVED, LEFT_OUT, TRIMMED = range(9)
"""UNDELAYED counts bytes since a packet was delayed, FAST: a whole window of them; LEFT_OUT is
what was on the way when the window was adapted, TRIMMED whether a packet was since then."""
BASE_RTT, TARGET, MAX, PROPORTIONAL, FAIR, EVEN, SHARE, QUIET, GAMMA, WEIGHT, GATE, LATE = (
    range(12)
)
SEGMENT, START, ADAPT_PERIOD, DRAFT = range(12, 16)
"""A flow starts with START bytes, or the largest window."""
FAST, WAS_TRIMMED = -1.0, 1
REFERENCE_RTT_PS = 12e6
REFERENCE_BYTES = 150_000.0
"""What a path of 100 Gb/s and 12 us holds: constants are for it."""
TRIMMED_DELAY_IN_RTT = 1.0
"""A queue that trims holds a round trip of the line."""
UNMARKED_DELAY_IN_RTT = 0.25
"""What an unmarked packet counts for in the mean delay, however late it is."""


@inner
def _begin(flow, knobs, line_ps_per_byte, now):
    flow.pace_ps_per_byte = 0.0
    flow.window_bytes = knobs[START] or knobs[MAX] * knobs[BASE_RTT] / line_ps_per_byte
    flow.cc[LAST_CUT] = now
    flow.cc[MEAN_DELAY] = 0.0
    flow.cc[BASE] = knobs[BASE_RTT]
    flow.cc[GROWN_AT] = now
    flow.cc[UNDELAYED] = 0.0
    flow.cc[ADAPT_AT] = 0.0
    flow.cc[ARRIVED] = 0.0
    flow.cc[LEFT_OUT] = 0.0
    flow.cc[TRIMMED] = 0.0


@inner
def _bound(flow, knobs, line_ps_per_byte):
    most = knobs[MAX] * flow.cc[BASE] / line_ps_per_byte
    flow.window_bytes = min(most, max(knobs[SEGMENT], flow.window_bytes))


@inner
def _adapts(flow, knobs, line_ps_per_byte, marked, delay, now):
    """Shrink the window to what arrived in a round trip; say whether to leave it alone now."""
    if marked and flow.cc[LEFT_OUT] > 0.0:
        return True
    if now <= flow.cc[ADAPT_AT]:
        return False
    draft = knobs[DRAFT] > 0.0
    late_by = flow.cc[MEAN_DELAY] if draft else delay
    late = flow.cc[TRIMMED] > 0.0 or late_by > knobs[LATE] * knobs[TARGET]
    few = flow.cc[ARRIVED] < knobs[GATE] * knobs[MAX] * flow.cc[BASE] / line_ps_per_byte
    shrinks = flow.cc[ARRIVED] <= flow.window_bytes or not draft
    adapts = flow.cc[ADAPT_AT] > 0.0 and late and few and shrinks
    if adapts:
        flow.window_bytes = max(flow.cc[ARRIVED], knobs[SEGMENT])
        flow.cc[LEFT_OUT] = flow.in_flight_bytes
        flow.cc[TRIMMED] = 0.0
    if not (adapts and draft):
        flow.cc[ARRIVED] = 0.0
        flow.cc[ADAPT_AT] = now + flow.cc[BASE] + knobs[ADAPT_PERIOD] * knobs[TARGET]
    return adapts


@inner
def _grow(flow, knobs, line_ps_per_byte, payload_bytes, delay):
    """Grow by an unmarked packet: fast, in proportion to the room below target, or fairly."""
    scale = knobs[BASE_RTT] / line_ps_per_byte / REFERENCE_BYTES
    share = payload_bytes / flow.window_bytes
    target = knobs[TARGET]
    fair = knobs[FAIR] * knobs[SEGMENT] * scale * share
    if delay >= target:
        flow.window_bytes += fair
        return
    if delay >= knobs[QUIET]:
        flow.cc[UNDELAYED] = 0.0
    elif flow.cc[UNDELAYED] >= 0.0:
        flow.cc[UNDELAYED] += payload_bytes
        if flow.cc[UNDELAYED] > flow.window_bytes:
            flow.cc[UNDELAYED] = FAST
    if flow.cc[UNDELAYED] == FAST:
        flow.window_bytes += knobs[SHARE] * scale * payload_bytes
    else:
        step = knobs[PROPORTIONAL] * knobs[SEGMENT] * scale * target / REFERENCE_RTT_PS
        flow.window_bytes += step * share * (target - delay) / target + knobs[DRAFT] * fair


@inner
def _shrink(flow, knobs, now):
    """Shrink by how far the mean delay is above target, at most once a round trip."""
    flow.cc[UNDELAYED] = 0.0
    mean, target = flow.cc[MEAN_DELAY], knobs[TARGET]
    if mean > target and now - flow.cc[LAST_CUT] > flow.cc[BASE]:
        flow.window_bytes *= max(0.5, 1.0 - knobs[GAMMA] * (mean - target) / mean)
        flow.cc[LAST_CUT] = now


@inner
def _ack(flow, knobs, line_ps_per_byte, payload_bytes, marked, round_trip, now):
    """Choose among the cases by the mark and by queueing delay against the target."""
    flow.cc[BASE] = min(flow.cc[BASE], round_trip)
    delay = round_trip - flow.cc[BASE]
    unmarked_late = not marked and delay > knobs[TARGET]
    counted = UNMARKED_DELAY_IN_RTT * flow.cc[BASE] if unmarked_late else delay
    flow.cc[MEAN_DELAY] += knobs[WEIGHT] * (counted - flow.cc[MEAN_DELAY])
    flow.cc[ARRIVED] += payload_bytes
    flow.cc[LEFT_OUT] -= payload_bytes
    if _adapts(flow, knobs, line_ps_per_byte, marked, delay, now):
        return
    if not marked:
        _grow(flow, knobs, line_ps_per_byte, payload_bytes, delay)
    elif delay >= knobs[TARGET]:
        _shrink(flow, knobs, now)
    period = REFERENCE_RTT_PS if knobs[DRAFT] > 0.0 else knobs[BASE_RTT]
    if now - flow.cc[GROWN_AT] >= period:
        scale = knobs[BASE_RTT] / line_ps_per_byte / REFERENCE_BYTES
        flow.window_bytes += knobs[EVEN] * knobs[SEGMENT] * scale
        flow.cc[GROWN_AT] = now
    _bound(flow, knobs, line_ps_per_byte)


@inner
def _loss(flow, knobs, line_ps_per_byte, payload_bytes, now):
    """Shrink by what was trimmed, unless the window was adapted to what arrives."""
    flow.cc[TRIMMED] = WAS_TRIMMED
    if knobs[DRAFT] > 0.0:
        _shrink_by(flow, knobs, line_ps_per_byte, payload_bytes)
        _adapts(flow, knobs, line_ps_per_byte, WAS_TRIMMED, 0.0, now)
        return
    delay = TRIMMED_DELAY_IN_RTT * knobs[BASE_RTT]
    flow.cc[MEAN_DELAY] += knobs[WEIGHT] * (delay - flow.cc[MEAN_DELAY])
    flow.cc[LEFT_OUT] -= payload_bytes
    if not _adapts(flow, knobs, line_ps_per_byte, WAS_TRIMMED, 0.0, now):
        _shrink_by(flow, knobs, line_ps_per_byte, payload_bytes)


@inner
def _shrink_by(flow, knobs, line_ps_per_byte, payload_bytes):
    flow.window_bytes -= payload_bytes
    _bound(flow, knobs, line_ps_per_byte)


nscc = Control(
    title="NSCC, the network-signalled congestion control of Ultra Ethernet",
    feedback=Feedback.ACK,
    marking=True,
    knobs={
        "base_rtt_ps": 5e6,
        "target_queue_delay_ps": 3.75e6,
        "largest_window_ratio": 1.5,
        "proportional_increase_packets": 4.0,
        "fair_increase_packets": 5.0,
        "even_increase_packets": 0.15,
        "fast_increase_ratio": 0.25,
        "no_delay_ps": 1e6,
        "gamma_ratio": 0.8,
        "delay_weight_ratio": 0.0125,
        "adapt_below_ratio": 0.125,
        "adapt_above_targets": 4.0,
        "segment_bytes": 4096,
        "start_window_bytes": 0.0,
        "adapt_period_targets": 1.0,
        "draft_of_2024": 0.0,
    },
    source="UEC Specification 1.0; constants of ultraethernet/uet-htsim, sim/uec.cpp",
    on_begin=_begin,
    on_ack=_ack,
    on_loss=_loss,
)
