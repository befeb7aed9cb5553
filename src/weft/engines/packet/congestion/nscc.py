"""NSCC: Ultra Ethernet's sender window, driven by marks and delay together. [UEC 1.0]

Four cases a packet: below target and unmarked grows in proportion to the room left; above
target and unmarked grows by a constant; below target and marked waits; above target and
marked shrinks once a round trip. Defaults follow the reference simulator of the consortium.
"""

from weft.engines.packet.control import Control, ignore_cnp, ignore_send
from weft.engines.packet.tables import Feedback
from weft.kernel import inner

LAST_CUT, MEAN_DELAY = range(2)
BASE_RTT, TARGET, ALPHA, FAIR, GAMMA, WEIGHT, SEGMENT, LARGEST = range(8)


@inner
def _begin(flow, knobs, line_ps_per_byte, now):
    flow.window_bytes = knobs[LARGEST]
    flow.pace_ps_per_byte = 0.0
    flow.cc[LAST_CUT] = now
    flow.cc[MEAN_DELAY] = 0.0


@inner
def _bounded(flow, knobs):
    return min(knobs[LARGEST], max(knobs[SEGMENT], flow.window_bytes))


@inner
def _ack(flow, knobs, line_ps_per_byte, payload_bytes, marked, round_trip, now):
    """Choose among the four cases by the mark and by queueing delay against the target."""
    delay = max(0.0, round_trip - knobs[BASE_RTT])
    target = knobs[TARGET]
    share = payload_bytes / flow.window_bytes
    flow.cc[MEAN_DELAY] += knobs[WEIGHT] * (delay - flow.cc[MEAN_DELAY])
    if not marked:
        if delay < target:
            flow.window_bytes += (
                knobs[ALPHA] * knobs[SEGMENT] * share * (target - delay) / target
            )
        flow.window_bytes += knobs[FAIR] * knobs[SEGMENT] * share
    elif delay >= target and now - flow.cc[LAST_CUT] >= knobs[BASE_RTT]:
        mean = max(flow.cc[MEAN_DELAY], target)
        flow.window_bytes *= max(0.5, 1.0 - knobs[GAMMA] * (mean - target) / mean)
        flow.cc[LAST_CUT] = now
    flow.window_bytes = _bounded(flow, knobs)


@inner
def _loss(flow, knobs, line_ps_per_byte, payload_bytes, now):
    """Shrink by what was trimmed: those bytes were more than the path could take."""
    flow.window_bytes -= payload_bytes
    flow.window_bytes = _bounded(flow, knobs)


nscc = Control(
    title="NSCC, the network-signalled congestion control of Ultra Ethernet",
    feedback=Feedback.ACK,
    marking=True,
    knobs={
        "base_rtt_ps": 5e6,
        "target_queue_delay_ps": 3.75e6,
        "proportional_increase_packets": 4.0,
        "fair_increase_packets": 0.25,
        "gamma_ratio": 0.8,
        "delay_weight_ratio": 0.0125,
        "segment_bytes": 4096,
        "largest_window_bytes": 375_000,
    },
    source="UEC Specification 1.0; defaults of the consortium's reference simulator, scaled",
    on_begin=_begin,
    on_send=ignore_send,
    on_ack=_ack,
    on_cnp=ignore_cnp,
    on_loss=_loss,
)
