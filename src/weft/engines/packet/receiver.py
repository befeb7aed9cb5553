"""The receiving side of a host: data in, feedback out, and what may start now."""

from weft.engines.packet.events import schedule
from weft.engines.packet.hooks import on_ack, on_begin, on_cnp, on_loss
from weft.engines.packet.port import kick
from weft.engines.packet.sender import join_ring, leave_ring
from weft.engines.packet.tables import Event, Feedback, Kind
from weft.engines.packet.wire import give_back, queue_control, take_packet
from weft.kernel import inner

TIMER = int(Event.TIMER)
DATA, ACK, CNP, NACK, TRIMMED = (int(kind) for kind in Kind)
BY_CNP, BY_ACK = int(Feedback.CNP), int(Feedback.ACK)


@inner
def _reply(state, packet_id, kind, host, now):
    """Turn a received packet into a control packet of the same flow and send it back."""
    packet = state.packets[packet_id]
    packet.kind = kind
    packet.wire_bytes = state.settings[0].control_bytes
    packet.ingress = -1
    uplink = state.hosts[host].uplink
    queue_control(state, state.links[uplink], packet_id)
    kick(state, uplink, now)


@inner
def _notify(state, flow_id, host, now):
    """Send a congestion notification, unless one went out a moment ago."""
    flow = state.flows[flow_id]
    if now - flow.last_cnp < state.settings[0].cnp_gap:
        return
    flow.last_cnp = now
    state.counts[0].cnps += 1
    packet_id = take_packet(state)
    packet = state.packets[packet_id]
    packet.flow = flow_id
    packet.payload_bytes = 0
    packet.marked = 0
    _reply(state, packet_id, CNP, host, now)


@inner
def begin(state, flow_id, now):
    """Start to send a flow."""
    flow = state.flows[flow_id]
    settings = state.settings[0]
    flow.begin = now
    flow.next_send = now
    on_begin(settings.congestion, flow, settings.knobs, settings.line_ps_per_byte, now)
    join_ring(state, flow.source, flow_id)
    kick(state, state.hosts[flow.source].uplink, now)


@inner
def begin_later(state, flow_id, time):
    """Start a flow at a time; for one host these times must not decrease."""
    flow = state.flows[flow_id]
    host = state.hosts[flow.source]
    flow.begin = time
    flow.next = -1
    if host.waiting_head < 0:
        host.waiting_head = flow_id
        schedule(state.tree, host.uplink * 4 + TIMER, time)
    else:
        state.flows[host.waiting_tail].next = flow_id
    host.waiting_tail = flow_id


@inner
def _end(state, flow_id, now):
    """Note that all bytes are there, and start what waited for them."""
    counts = state.counts[0]
    state.flows[flow_id].end = now
    counts.flows_done += 1
    counts.last_end = now
    gap = state.settings[0].gap_between_operations
    for place in range(state.successor_start[flow_id], state.successor_start[flow_id + 1]):
        follower = state.successors[place]
        state.flows[follower].waits_for -= 1
        if state.flows[follower].waits_for == 0:
            if gap == 0:
                begin(state, follower, now)
            else:
                begin_later(state, follower, now + gap)


@inner
def _take_data(state, packet_id, host, now):
    packet = state.packets[packet_id]
    settings = state.settings[0]
    flow_id = packet.flow
    flow = state.flows[flow_id]
    marked = packet.marked
    flow.received_bytes += packet.payload_bytes
    if settings.feedback == BY_ACK:
        _reply(state, packet_id, ACK, host, now)
    else:
        give_back(state, packet_id)
        if marked and settings.feedback == BY_CNP:
            _notify(state, flow_id, host, now)
    if flow.received_bytes >= flow.total_bytes:
        _end(state, flow_id, now)


@inner
def _take_ack(state, packet, host, now):
    settings = state.settings[0]
    flow_id = packet.flow
    flow = state.flows[flow_id]
    flow.in_flight_bytes -= packet.payload_bytes
    on_ack(
        settings.congestion, flow, settings.knobs, settings.line_ps_per_byte,
        packet.payload_bytes, packet.marked, now - packet.sent_at, now,
    )  # fmt: skip
    if flow.to_send_bytes > 0:
        kick(state, state.hosts[host].uplink, now)
    elif flow.in_flight_bytes <= 0 and flow.active:
        leave_ring(state, host, flow_id)


@inner
def _send_again(state, packet, host, now):
    """Put the bytes that a switch trimmed back to what is to be sent."""
    flow = state.flows[packet.flow]
    settings = state.settings[0]
    flow.to_send_bytes += packet.payload_bytes
    flow.in_flight_bytes -= packet.payload_bytes
    on_loss(
        settings.congestion, flow, settings.knobs, settings.line_ps_per_byte,
        packet.payload_bytes, now,
    )  # fmt: skip
    join_ring(state, host, packet.flow)
    kick(state, state.hosts[host].uplink, now)


@inner
def receive_at_host(state, link_id, packet_id, now):
    """Take a packet that arrived at a host."""
    packet = state.packets[packet_id]
    settings = state.settings[0]
    host = state.links[link_id].target
    kind = packet.kind
    if kind == DATA:
        _take_data(state, packet_id, host, now)
        return
    if kind == TRIMMED:
        _reply(state, packet_id, NACK, host, now)
        return
    if kind == ACK:
        _take_ack(state, packet, host, now)
    elif kind == CNP:
        flow = state.flows[packet.flow]
        on_cnp(settings.congestion, flow, settings.knobs, settings.line_ps_per_byte, now)
    else:
        _send_again(state, packet, host, now)
    give_back(state, packet_id)
