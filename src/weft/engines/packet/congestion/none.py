"""No congestion control: every flow sends at line rate and the link level does the rest."""

from weft.engines.packet.control import Control
from weft.engines.packet.tables import Feedback
from weft.kernel import inner

UNBOUNDED_BYTES = 1e18


@inner
def _begin(flow, knobs, line_ps_per_byte, now):
    flow.window_bytes = UNBOUNDED_BYTES
    flow.pace_ps_per_byte = 0.0


none = Control(
    title="none: line rate, link-level flow control alone",
    feedback=Feedback.NONE,
    marking=False,
    knobs={},
    source="",
    on_begin=_begin,
)
