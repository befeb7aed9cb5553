"""The sending side of a host: a ring of flows that take turns, and the limits of its NIC.

A message is a work request: ``message_bytes`` of a flow, or all of it; a NIC begins the next a
while after the last. A connection whose state the NIC does not hold is read from host memory:
with C places for N connections that come in turn at random, 1 - C / N of the turns miss.
"""

import numpy as np

from weft.engines.packet.events import NEVER, schedule_no_later
from weft.engines.packet.hooks import choose_entropy, on_send, pick_sequence
from weft.engines.packet.lanes import ring_of, settings_of
from weft.engines.packet.tables import Event, Kind
from weft.engines.packet.wire import new_packet
from weft.kernel import inner


@inner
def _begins(state, flow):
    """Return how many messages begin in the next packet of a flow."""
    settings = state.settings[0]
    each = settings.message_bytes
    sent = flow.total_bytes - flow.withheld_bytes - flow.to_send_bytes
    after = sent + min(flow.to_send_bytes, settings.mtu_bytes)
    return (after + each - 1) // each - (sent + each - 1) // each


@inner
def ready_for(state, host_id, flow):
    """Return when the NIC can send a flow's next packet; one in mid-message holds nobody up."""
    host = state.hosts[host_id]
    if state.settings[0].limited == 0 or host.message_at <= host.ready:
        return host.ready
    return host.ready if _begins(state, flow) == 0 else host.message_at


@inner
def charge(state, host_id, flow, now):
    """Note when the NIC can begin the next packet, and the next message."""
    host = state.hosts[host_id]
    begun = _begins(state, flow)
    if begun > 0:
        host.message_at = np.int64(now + begun * host.message)
    if flow.hash != host.connection:
        host.connection = flow.hash
        host.ready = now + host.switch


TIMER = int(Event.TIMER)
DATA = int(Kind.DATA)


@inner
def has_more(state, host):
    """Say whether any flow of a host is in its ring."""
    return state.hosts[host].turn >= 0


@inner
def _may_send(flow):
    return (
        flow.to_send_bytes > 0
        and (flow.in_flight_bytes < flow.window_bytes or flow.asked == 0)
        and (flow.next_sequence < flow.send_limit or flow.resends > 0)
    )


@inner
def wait_until(state, host, traffic_class, now):
    """Return when a flow of a host may send, NEVER if only an arrival can free one."""
    first = state.hosts[ring_of(state, host, traffic_class)].turn
    earliest = NEVER
    if first < 0:
        return earliest
    flow_id = first
    while True:
        flow = state.flows[flow_id]
        if _may_send(flow):
            earliest = min(earliest, max(flow.next_send, ready_for(state, host, flow)))
        flow_id = flow.next
        if flow_id == first:
            return earliest


@inner
def _next_flow(state, host, traffic_class, now):
    first = state.hosts[ring_of(state, host, traffic_class)].turn
    if first < 0 or state.hosts[host].ready > now:
        return -1
    flow_id = first
    while True:
        flow = state.flows[flow_id]
        if flow.next_send <= now and _may_send(flow) and ready_for(state, host, flow) <= now:
            return flow_id
        flow_id = flow.next
        if flow_id == first:
            return -1


@inner
def may_send_now(state, host, traffic_class, now):
    """Say whether any flow of a host and class may send."""
    return _next_flow(state, host, traffic_class, now) >= 0


@inner
def pull_packet(state, host, traffic_class, now):
    """Build the next packet of a host's flows of a class; -1 if none may send now."""
    settings = settings_of(state, traffic_class)
    flow_id = _next_flow(state, host, traffic_class, now)
    if flow_id < 0:
        return -1
    flow = state.flows[flow_id]
    sequence = pick_sequence(settings.recovery, state, flow_id)
    left = min(flow.to_send_bytes, flow.total_bytes - sequence * settings.mtu_bytes)
    payload = min(left, settings.mtu_bytes)
    packet_id = new_packet(state, flow_id, flow.target, DATA, payload + settings.header_bytes)
    packet = state.packets[packet_id]
    packet.sequence = sequence
    packet.payload_bytes = payload
    packet.sent_at = now
    packet.telemetry = 0.0
    if settings.numbered:
        _expect_answer(state, host, flow, now)
    if settings.limited:
        charge(state, host, flow, now)
    flow.to_send_bytes -= payload
    flow.in_flight_bytes += payload
    on_send(settings.congestion, flow, settings.knobs, settings.line_ps_per_byte, payload, now)
    flow.next_send = now + np.int64(packet.wire_bytes * flow.pace_ps_per_byte)
    if settings.acknowledge_bytes > 0:
        _ask(flow, packet)
    if settings.chooses:
        uplink = state.links[state.hosts[host].uplink]
        packet.entropy = choose_entropy(
            settings.balancing, state.choices[flow_id], settings.entropies, uplink
        )
    state.hosts[ring_of(state, host, traffic_class)].turn = flow.next
    if flow.to_send_bytes <= 0 and settings.keeps_sender == 0:
        leave_ring(state, host, flow_id)
    return packet_id


@inner
def _ask(flow, packet):
    """Ask for an answer to a packet after which the flow must wait.

    Otherwise it could wait for one that the receiver holds back. A window that closes later
    lets one more packet ask.
    """
    flow.asked = 1
    flow.asked = not _may_send(flow)
    packet.missing = flow.asked


@inner
def _expect_answer(state, host_id, flow, now):
    """Start the retransmission timer of a flow, and that of its host if it is not running."""
    if flow.in_flight_bytes <= 0:
        flow.progress_at = now
    host = state.hosts[host_id]
    if host.timer_at == NEVER and host.patient == 0:
        host.timer_at = now + settings_of(state, flow.traffic_class).timeout
        if host.timer_at < state.links[host.downlink].watchdog_at:
            schedule_no_later(state, host.downlink, TIMER, host.timer_at)


@inner
def join_ring(state, host, flow_id):
    """Put a flow in front of the host's turn, unless it is there already."""
    flow = state.flows[flow_id]
    if flow.active:
        return
    flow.active = 1
    ring = ring_of(state, host, flow.traffic_class)
    turn = state.hosts[ring].turn
    if turn < 0:
        flow.next = flow_id
        flow.previous = flow_id
        state.hosts[ring].turn = flow_id
        return
    flow.next = turn
    flow.previous = state.flows[turn].previous
    state.flows[flow.previous].next = flow_id
    state.flows[turn].previous = flow_id


@inner
def leave_ring(state, host, flow_id):
    """Take a flow out of the host's ring."""
    flow = state.flows[flow_id]
    follower = flow.next
    ring = ring_of(state, host, flow.traffic_class)
    flow.active = 0
    if follower == flow_id:
        state.hosts[ring].turn = -1
        return
    state.flows[flow.previous].next = follower
    state.flows[follower].previous = flow.previous
    if state.hosts[ring].turn == flow_id:
        state.hosts[ring].turn = follower
