"""HPCC: keep what is in flight on the fullest link just below its capacity. [SIGCOMM 2019]

Switches write the load of a link into packets: queue and rate over a base round trip. Packets
carry the largest load of their path, as in the variant PINT, not a record per link.
"""

from weft.engines.packet.control import Control
from weft.engines.packet.tables import Feedback
from weft.kernel import inner

REFERENCE, STAGE, UPDATED, LOAD, HEARD = range(5)
BASE_RTT, TARGET, STAGES, ADDITIVE, SMALLEST = range(5)


@inner
def _begin(flow, knobs, line_ps_per_byte, now):
    """Start with the product of line rate and base round trip. [section 3.2]"""
    flow.window_bytes = knobs[BASE_RTT] / line_ps_per_byte
    flow.pace_ps_per_byte = line_ps_per_byte
    flow.cc[REFERENCE] = flow.window_bytes
    flow.cc[STAGE] = 0.0
    flow.cc[UPDATED] = now
    flow.cc[LOAD] = 1.0
    flow.cc[HEARD] = now


@inner
def _send(flow, knobs, line_ps_per_byte, payload_bytes, now):
    """Pace to a window a base round trip. [section 3.2: R = W / T]"""
    flow.pace_ps_per_byte = max(line_ps_per_byte, knobs[BASE_RTT] / flow.window_bytes)


@inner
def _ack(flow, knobs, line_ps_per_byte, payload_bytes, marked, round_trip, now):
    """U <- (1 - t/T) U + t/T u; W = W_ref / (U / eta) + W_AI. [algorithm 1]"""
    base = knobs[BASE_RTT]
    weight = min(1.0, (now - flow.cc[HEARD]) / base)
    flow.cc[HEARD] = now
    flow.cc[LOAD] += weight * (flow.telemetry - flow.cc[LOAD])
    load = flow.cc[LOAD] / knobs[TARGET]
    reference = flow.cc[REFERENCE]
    falls = load >= 1.0 or flow.cc[STAGE] >= knobs[STAGES]
    window = (reference / load if falls else reference) + knobs[ADDITIVE]
    flow.window_bytes = max(knobs[SMALLEST], min(window, base / line_ps_per_byte))
    if now - flow.cc[UPDATED] >= round_trip:
        flow.cc[UPDATED] = now
        flow.cc[STAGE] = 0.0 if falls else flow.cc[STAGE] + 1.0
        flow.cc[REFERENCE] = flow.window_bytes


@inner
def _loss(flow, knobs, line_ps_per_byte, payload_bytes, now):
    """Halve the reference: a loss means that the load was above what packets can tell."""
    flow.cc[REFERENCE] = max(knobs[SMALLEST], 0.5 * flow.cc[REFERENCE])
    flow.window_bytes = flow.cc[REFERENCE]


hpcc = Control(
    title="HPCC: in-band telemetry",
    feedback=Feedback.ACK,
    marking=False,
    telemetry=True,
    knobs={
        "base_rtt_ps": 5e6,
        "target_load_ratio": 0.95,
        "most_stages": 5,
        "additive_increase_bytes": 1_500,
        "smallest_window_bytes": 4096,
    },
    source="Li et al., HPCC: High Precision Congestion Control, SIGCOMM 2019",
    on_begin=_begin,
    on_send=_send,
    on_ack=_ack,
    on_loss=_loss,
)
