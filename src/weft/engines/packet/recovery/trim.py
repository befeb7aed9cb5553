"""Trimming: a full queue keeps the header, and the receiver asks for the payload at once.

Bytes are interchangeable here: nothing is numbered, so order does not matter and there is no
timer. A packet that vanishes without its header is never sent again.
"""

from weft.engines.packet.recover import KEEP, REPLY_NACK, Recovery
from weft.kernel import inner


@inner
def _pick_sequence(state, flow_id):
    return 0


@inner
def _data(state, flow_id, packet):
    return KEEP


@inner
def _trimmed(state, flow_id, packet):
    return REPLY_NACK


@inner
def _ack(state, flow_id, packet):
    state.flows[flow_id].in_flight_bytes -= packet.payload_bytes


@inner
def _nack(state, flow_id, packet):
    flow = state.flows[flow_id]
    flow.to_send_bytes += packet.payload_bytes
    flow.in_flight_bytes -= packet.payload_bytes
    return packet.payload_bytes


@inner
def _timeout(state, flow_id):
    return 0


trim = Recovery(
    title="trimming: the header arrives and asks for the rest",
    trims=True,
    numbered=False,
    selective=True,
    source="Handley et al., Re-architecting datacenter networks and stacks, SIGCOMM 2017",
    pick_sequence=_pick_sequence,
    on_data=_data,
    on_trimmed=_trimmed,
    on_ack=_ack,
    on_nack=_nack,
    on_timeout=_timeout,
)
