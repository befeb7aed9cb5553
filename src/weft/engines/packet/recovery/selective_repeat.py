"""Selective repeat: the receiver keeps what comes out of order; only what is missing is resent.

A gap is reported once, when a packet comes that is ``reordering_packets`` or more ahead of it
(0 where the network keeps order); what is lost again, the sender's timer finds. A timeout
resends what the receiver has not got, as a selective acknowledgement would tell.
[Mittal et al., Revisiting Network Support for RDMA, SIGCOMM 2018; RFC 2018]

``state.flags`` has a byte for each packet of a flow's window, at its number modulo the window.
"""

from weft.engines.packet.lanes import settings_of
from weft.engines.packet.recover import (
    KEEP,
    REPLY_ACK,
    REPLY_NACK,
    Recovery,
    is_time_to_acknowledge,
    payload_of,
)
from weft.engines.packet.tables import Feedback
from weft.kernel import inner

ARRIVED, REPORTED, RESEND = 1, 2, 4
ACKS = int(Feedback.ACK)


@inner
def _place(state, flow_id, sequence):
    window = state.settings[0].window_packets
    return flow_id * window + sequence % window


@inner
def _is(state, flow_id, sequence, flag):
    return state.flags[_place(state, flow_id, sequence)] & flag != 0


@inner
def _set(state, flow_id, sequence, flag):
    state.flags[_place(state, flow_id, sequence)] |= flag


@inner
def _clear(state, flow_id, sequence, flag):
    place = _place(state, flow_id, sequence)
    state.flags[place] &= ~flag & 0xFF


@inner
def _pick_sequence(state, flow_id):
    """Return the first packet to send again; if there is none, the next new one."""
    flow = state.flows[flow_id]
    if flow.resends == 0:
        flow.next_sequence += 1
        return flow.next_sequence - 1
    sequence = flow.resend_from
    while not _is(state, flow_id, sequence, RESEND):
        sequence += 1
    _clear(state, flow_id, sequence, RESEND)
    flow.resend_from = sequence + 1
    flow.resends -= 1
    return sequence


@inner
def _is_new(state, flow_id, sequence):
    flow = state.flows[flow_id]
    return sequence >= flow.expected and not _is(state, flow_id, sequence, ARRIVED)


@inner
def _data(state, flow_id, packet):
    """Keep what is new, report a gap, acknowledge now and then."""
    flow = state.flows[flow_id]
    if not _is_new(state, flow_id, packet.sequence):
        packet.payload_bytes = 0
        packet.missing = 0
        packet.sequence = flow.expected
        return REPLY_ACK
    answer = KEEP
    before = flow.expected
    _set(state, flow_id, packet.sequence, ARRIVED)
    if packet.sequence == flow.expected:
        _move_on(state, flow_id)
    if _report_gap(state, flow_id, packet):
        answer |= REPLY_NACK
    elif is_time_to_acknowledge(state, flow_id, before):
        answer |= REPLY_ACK
    packet.sequence = flow.expected
    return answer


@inner
def _move_on(state, flow_id):
    """Expect the first packet that has not arrived."""
    flow = state.flows[flow_id]
    while _is(state, flow_id, flow.expected, ARRIVED):
        _clear(state, flow_id, flow.expected, ARRIVED | REPORTED)
        flow.expected += 1


@inner
def _report_gap(state, flow_id, packet):
    """Write the range that must be lost by now into the packet; say whether there is one."""
    flow = state.flows[flow_id]
    horizon = packet.sequence - settings_of(state, flow.traffic_class).reordering_packets
    first = max(flow.expected, flow.complained)
    lost = False
    packet.missing = 0
    for sequence in range(first, horizon):
        if not _is(state, flow_id, sequence, ARRIVED | REPORTED):
            _set(state, flow_id, sequence, REPORTED)
            if not lost:
                packet.first_missing = sequence
            packet.missing = sequence + 1 - packet.first_missing
            lost = True
    flow.complained = max(flow.complained, horizon)
    return lost


@inner
def _trimmed(state, flow_id, packet):
    if not _is_new(state, flow_id, packet.sequence):
        return 0
    _set(state, flow_id, packet.sequence, REPORTED)
    packet.first_missing = packet.sequence
    packet.missing = 1
    packet.payload_bytes = 0
    packet.sequence = state.flows[flow_id].expected
    return REPLY_NACK


@inner
def _resend(state, flow_id, sequence):
    """Note a lost packet for sending again; return its payload."""
    flow = state.flows[flow_id]
    _set(state, flow_id, sequence, RESEND)
    flow.resend_from = sequence if flow.resends == 0 else min(flow.resend_from, sequence)
    flow.resends += 1
    lost = payload_of(state, flow_id, sequence)
    flow.to_send_bytes += lost
    return lost


@inner
def _ack(state, flow_id, packet):
    """All before the number has arrived, and where every packet is answered, this one."""
    flow = state.flows[flow_id]
    each = settings_of(state, flow.traffic_class).feedback == ACKS
    if each:
        flow.in_flight_bytes -= packet.payload_bytes
    for sequence in range(flow.acknowledged, packet.sequence):
        payload = payload_of(state, flow_id, sequence)
        if _is(state, flow_id, sequence, RESEND):
            _clear(state, flow_id, sequence, RESEND)
            flow.resends -= 1
            flow.to_send_bytes -= payload
        elif not each:
            flow.in_flight_bytes -= payload
    flow.acknowledged = max(flow.acknowledged, packet.sequence)
    flow.send_limit = flow.acknowledged + state.settings[0].window_packets
    flow.in_flight_bytes = max(0, flow.in_flight_bytes)  # a timeout forgets what is under way


@inner
def _nack(state, flow_id, packet):
    flow = state.flows[flow_id]
    _ack(state, flow_id, packet)
    lost = 0
    for sequence in range(packet.first_missing, packet.first_missing + packet.missing):
        wanted = sequence >= flow.acknowledged and _is_new(state, flow_id, sequence)
        if wanted and not _is(state, flow_id, sequence, RESEND):
            lost += _resend(state, flow_id, sequence)
    flow.in_flight_bytes -= lost
    return lost


@inner
def _timeout(state, flow_id):
    flow = state.flows[flow_id]
    lost = 0
    for sequence in range(flow.acknowledged, flow.next_sequence):
        if _is_new(state, flow_id, sequence) and not _is(state, flow_id, sequence, RESEND):
            lost += _resend(state, flow_id, sequence)
    flow.in_flight_bytes = 0
    for sequence in range(flow.acknowledged, flow.expected):
        if _is(state, flow_id, sequence, RESEND):
            _clear(state, flow_id, sequence, RESEND)
            flow.resends -= 1
            flow.to_send_bytes -= payload_of(state, flow_id, sequence)
    flow.acknowledged = flow.expected
    flow.send_limit = flow.acknowledged + state.settings[0].window_packets
    return lost


selective_repeat = Recovery(
    title="selective repeat: only what is missing is sent again",
    trims=False,
    numbered=True,
    selective=True,
    source="Mittal et al., Revisiting Network Support for RDMA, SIGCOMM 2018",
    pick_sequence=_pick_sequence,
    on_data=_data,
    on_trimmed=_trimmed,
    on_ack=_ack,
    on_nack=_nack,
    on_timeout=_timeout,
)
