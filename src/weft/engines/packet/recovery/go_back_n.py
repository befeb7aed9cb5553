"""Go-back-N: the receiver takes packets in order only; a gap or a timeout starts again there.

The rule of reliable connections in RoCE and InfiniBand NICs. [InfiniBand 1.3, section 9.7]
One NACK a gap: if the packet asked for is lost too, the sender's timer finds out.
"""

from weft.engines.packet.recover import (
    KEEP,
    REPLY_ACK,
    REPLY_NACK,
    Recovery,
    bytes_before,
    is_time_to_acknowledge,
)
from weft.kernel import inner


@inner
def _pick_sequence(state, flow_id):
    flow = state.flows[flow_id]
    sequence = flow.next_sequence
    flow.next_sequence = sequence + 1
    return sequence


@inner
def _data(state, flow_id, packet):
    """Keep the packet that is next; answer one from the past; complain once about a gap."""
    flow = state.flows[flow_id]
    before = flow.expected
    if packet.sequence > before:
        return _complain(state, flow_id, packet)
    answer = REPLY_ACK
    if packet.sequence == before:
        flow.expected = before + 1
        if not is_time_to_acknowledge(state, flow_id, before):
            return KEEP
        answer |= KEEP
    else:
        packet.payload_bytes = 0
    packet.sequence = flow.expected
    return answer


@inner
def _complain(state, flow_id, packet):
    flow = state.flows[flow_id]
    if packet.sequence < flow.expected or flow.complained == flow.expected + 1:
        return 0
    flow.complained = flow.expected + 1
    packet.sequence = flow.expected
    packet.payload_bytes = 0
    return REPLY_NACK


@inner
def _ack(state, flow_id, packet):
    """Everything before the number has arrived."""
    flow = state.flows[flow_id]
    if packet.sequence > flow.acknowledged:
        flow.acknowledged = packet.sequence
        flow.next_sequence = max(flow.next_sequence, packet.sequence)
        _recount(state, flow_id)


@inner
def _nack(state, flow_id, packet):
    flow = state.flows[flow_id]
    if packet.sequence < flow.acknowledged:
        return 0
    flow.acknowledged = packet.sequence
    return _go_back(state, flow_id)


@inner
def _go_back(state, flow_id):
    """Send everything again from the first packet that is not acknowledged."""
    flow = state.flows[flow_id]
    flow.next_sequence = flow.acknowledged
    _recount(state, flow_id)
    return state.settings[0].mtu_bytes


@inner
def _recount(state, flow_id):
    flow = state.flows[flow_id]
    sent = bytes_before(state, flow_id, flow.next_sequence)
    flow.to_send_bytes = flow.total_bytes - sent
    flow.in_flight_bytes = sent - bytes_before(state, flow_id, flow.acknowledged)


go_back_n = Recovery(
    title="go-back-N: in order or again from there",
    trims=False,
    numbered=True,
    selective=False,
    source="InfiniBand Architecture Specification 1.3, section 9.7",
    pick_sequence=_pick_sequence,
    on_data=_data,
    on_trimmed=_complain,
    on_ack=_ack,
    on_nack=_nack,
    on_timeout=_go_back,
)
