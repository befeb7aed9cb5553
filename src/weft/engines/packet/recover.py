"""What loss recovery is: how packets are numbered, asked for again and sent again.

Hooks take the state and a flow's number; ``packet`` is a row:

* ``pick_sequence(state, flow)``: the number of the packet that the flow sends now
* ``on_data(state, flow, packet)``: at the receiver; returns ``KEEP``, a reply, both or neither,
  and writes the numbers that a reply carries into the packet
* ``on_trimmed(state, flow, packet)``: a header without its payload came; returns a reply
* ``on_ack(state, flow, packet)``: at the sender
* ``on_nack(state, flow, packet)``, ``on_timeout(state, flow)``: return the lost bytes

``to_send_bytes`` and ``in_flight_bytes`` of the flow are kept by these hooks, but for the
packet that is being sent. Times are picoseconds.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from weft.engines.packet.lanes import settings_of
from weft.kernel import inner

Kernel = Callable[..., Any]

KEEP, REPLY_ACK, REPLY_NACK = 1, 2, 4
"""What a receiver does with a packet: bits of the answer of ``on_data``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovery:
    """A way to get lost packets across."""

    title: str
    trims: bool
    """Whether switches cut a packet to its header where others would drop it."""
    numbered: bool
    """Whether packets have numbers, acknowledgements and a retransmission timer."""
    selective: bool
    """Whether the receiver keeps what comes out of order."""
    source: str
    pick_sequence: Kernel
    on_data: Kernel
    on_trimmed: Kernel
    on_ack: Kernel
    on_nack: Kernel
    on_timeout: Kernel


@inner
def payload_of(state, flow_id, sequence):
    """Return the payload of a flow's packet by its number."""
    mtu_bytes = state.settings[0].mtu_bytes
    return min(mtu_bytes, state.flows[flow_id].total_bytes - sequence * mtu_bytes)


@inner
def bytes_before(state, flow_id, sequence):
    """Return the payload of all of a flow's packets before a number."""
    return min(sequence * state.settings[0].mtu_bytes, state.flows[flow_id].total_bytes)


@inner
def is_finished(state, flow_id):
    """Say whether the sender knows that all packets of a numbered flow have arrived."""
    flow = state.flows[flow_id]
    return flow.acknowledged * state.settings[0].mtu_bytes >= flow.total_bytes


@inner
def is_time_to_acknowledge(state, flow_id, expected_before):
    """Say whether the receiver owes an acknowledgement: every few packets, and at the end."""
    flow = state.flows[flow_id]
    every = settings_of(state, flow.traffic_class).acknowledge_every
    return (
        flow.expected // every != expected_before // every
        or flow.expected * state.settings[0].mtu_bytes >= flow.total_bytes
    )
