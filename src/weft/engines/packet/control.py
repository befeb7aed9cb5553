"""What a congestion control is: hooks on one flow's row, and named knobs.

Hooks change the row and return nothing; those that a control leaves out change nothing:

* ``on_begin(flow, knobs, line_ps_per_byte, now)``: the flow starts
* ``on_send(flow, knobs, line_ps_per_byte, payload_bytes, now)``: a packet leaves; set pace here
* ``on_ack(flow, knobs, line_ps_per_byte, payload_bytes, marked, round_trip, now)``
* ``on_cnp(flow, knobs, line_ps_per_byte, now)``: the receiver saw marks
* ``on_loss(flow, knobs, line_ps_per_byte, payload_bytes, now)``: a packet must be sent again

Where the receiver decides, it has four more:

* ``on_arrival(state, flow_id, payload_bytes, cut_bytes, marked, now)``: data came to the
  receiver, or the header of so much that was cut, ``marked`` as ``CUT`` where that was before
  the last link; it may send ``GRANT`` packets here
* ``on_grant(flow, knobs, granted_bytes)``: such a packet came to the sender
* ``on_answer(state, flow_id, host)``: any answer came to the sender, after the hook for it
* ``on_clock(state, host, now)``: the receiver may send such packets; returns when next

``flow.window_bytes`` bounds what is in flight, ``flow.pace_ps_per_byte`` spaces packets,
``flow.cc`` holds ten private numbers, named by constants at the top of each file.
Times are picoseconds.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from weft.engines.packet.events import NEVER
from weft.engines.packet.tables import Feedback
from weft.kernel import inner

Kernel = Callable[..., Any]


@inner
def ignore_send(flow, knobs, line_ps_per_byte, payload_bytes, now):
    """Leave the flow as it is."""


@inner
def ignore_ack(flow, knobs, line_ps_per_byte, payload_bytes, marked, round_trip, now):
    """Leave the flow as it is."""


@inner
def ignore_cnp(flow, knobs, line_ps_per_byte, now):
    """Leave the flow as it is."""


@inner
def ignore_loss(flow, knobs, line_ps_per_byte, payload_bytes, now):
    """Leave the flow as it is: the packet is sent again at the same pace."""


@inner
def ignore_arrival(state, flow_id, payload_bytes, cut_bytes, marked, now):
    """Let the sender decide alone."""


@inner
def ignore_grant(flow, knobs, granted_bytes):
    """Leave the flow as it is."""


@inner
def ignore_answer(state, flow_id, host):
    """Go on with what the hook for that answer has set."""


@inner
def ignore_clock(state, host, now):
    """Wait for what arrives."""
    return NEVER


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """A congestion control: hooks for the kernel, knobs for the user."""

    title: str
    feedback: Feedback
    marking: bool
    """Whether switches mark packets for it."""
    telemetry: bool = False
    """Whether switches write the largest load of the path into packets, over the time of the
    knob ``base_rtt_ps``; ``on_ack`` finds it in ``flow.telemetry``."""
    knobs: Mapping[str, float]
    """Name -> default, in the order that the hooks index them."""
    source: str
    on_begin: Kernel
    on_send: Kernel = ignore_send
    on_ack: Kernel = ignore_ack
    on_cnp: Kernel = ignore_cnp
    on_loss: Kernel = ignore_loss
    on_arrival: Kernel = ignore_arrival
    on_grant: Kernel = ignore_grant
    on_answer: Kernel = ignore_answer
    on_clock: Kernel = ignore_clock
