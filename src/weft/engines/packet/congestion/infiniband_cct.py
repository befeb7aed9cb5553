"""InfiniBand congestion control: a notification moves the flow down a table of delays.

Switches set FECN, the receiver returns BECN, the sender raises its index into the congestion
control table (CCT) and a timer lowers it. [InfiniBand Architecture 1.3, annex A10]
The table here is linear: index i multiplies the time between packets by 1 + i * step.
"""

from weft.engines.packet.control import Control
from weft.engines.packet.tables import Feedback
from weft.kernel import inner

INDEX, TIMER_AT = range(2)
INCREASE, TIMER, LIMIT, STEP = range(4)
UNBOUNDED_BYTES = 1e18


@inner
def _begin(flow, knobs, line_ps_per_byte, now):
    flow.window_bytes = UNBOUNDED_BYTES
    flow.pace_ps_per_byte = line_ps_per_byte
    flow.cc[INDEX] = 0.0
    flow.cc[TIMER_AT] = now


@inner
def _count_down(flow, knobs, now):
    """Lower the index once for every timer that has expired."""
    expired = (now - flow.cc[TIMER_AT]) // knobs[TIMER]
    flow.cc[TIMER_AT] += expired * knobs[TIMER]
    flow.cc[INDEX] = max(0.0, flow.cc[INDEX] - expired)


@inner
def _send(flow, knobs, line_ps_per_byte, payload_bytes, now):
    _count_down(flow, knobs, now)
    flow.pace_ps_per_byte = line_ps_per_byte * (1.0 + flow.cc[INDEX] * knobs[STEP])


@inner
def _becn(flow, knobs, line_ps_per_byte, now):
    _count_down(flow, knobs, now)
    flow.cc[INDEX] = min(knobs[LIMIT], flow.cc[INDEX] + knobs[INCREASE])


infiniband_cct = Control(
    title="InfiniBand congestion control (FECN, BECN, CCT)",
    feedback=Feedback.CNP,
    marking=True,
    knobs={
        "ccti_increase": 1.0,
        "ccti_timer_ps": 150e6,
        "ccti_limit": 127.0,
        "delay_step_ratio": 0.1,
    },
    source="InfiniBand Architecture Specification 1.3, annex A10",
    on_begin=_begin,
    on_send=_send,
    on_cnp=_becn,
)
