"""The receiving side of a host: data in, feedback out, and what may start now."""

from weft.engines.packet.events import NEVER, schedule
from weft.engines.packet.hooks import (
    learn_entropy,
    on_ack,
    on_acknowledged,
    on_answer,
    on_arrival,
    on_begin,
    on_cnp,
    on_data,
    on_grant,
    on_loss,
    on_nack,
    on_timeout,
    on_trimmed,
)
from weft.engines.packet.lanes import ring_of, settings_of
from weft.engines.packet.recover import KEEP, REPLY_ACK, REPLY_NACK, is_finished
from weft.engines.packet.relay import feed
from weft.engines.packet.sender import join_ring, leave_ring
from weft.engines.packet.tables import Event, Feedback, Kind
from weft.engines.packet.wire import give_back, new_packet, queue_control
from weft.kernel import inner

TIMER = int(Event.TIMER)
DATA, ACK, CNP = int(Kind.DATA), int(Kind.ACK), int(Kind.CNP)
NACK, TRIMMED = int(Kind.NACK), int(Kind.TRIMMED)
GRANT = int(Kind.GRANT)
BY_CNP, BY_ACK = int(Feedback.CNP), int(Feedback.ACK)


@inner
def _reply(state, packet_id, kind, host):
    """Turn a received packet into a control packet of the same flow, to be sent back."""
    packet = state.packets[packet_id]
    packet.kind = kind
    packet.target = state.flows[packet.flow].source
    packet.wire_bytes = state.settings[0].control_bytes
    packet.ingress = -1
    queue_control(state, state.links[state.hosts[host].uplink], packet_id)


@inner
def _notify(state, flow_id, host, now):
    """Send a congestion notification, unless one went out a moment ago."""
    flow = state.flows[flow_id]
    if now - flow.last_cnp < settings_of(state, flow.traffic_class).cnp_gap:
        return
    flow.last_cnp = now
    state.counts[0].cnps += 1
    control_bytes = state.settings[0].control_bytes
    packet_id = new_packet(state, flow_id, flow.source, CNP, control_bytes)
    queue_control(state, state.links[state.hosts[host].uplink], packet_id)


@inner
def begin(state, flow_id, now):
    """Let a flow take part in the turns of its host; the caller kicks the host's uplink."""
    flow = state.flows[flow_id]
    settings = settings_of(state, flow.traffic_class)
    flow.begin = now
    flow.next_send = now
    on_begin(settings.congestion, flow, settings.knobs, settings.line_ps_per_byte, now)
    join_ring(state, flow.source, flow_id)


@inner
def begin_later(state, flow_id, time):
    """Start a flow at a time: put it in its place among those of its host that wait."""
    flow = state.flows[flow_id]
    host = state.hosts[flow.source]
    flow.begin = time
    before = host.waiting_tail if host.waiting_head >= 0 else -1
    if before >= 0 and state.flows[before].begin > time:
        before = _last_before(state, host.waiting_head, time)
    if before < 0:
        flow.next = host.waiting_head
        host.waiting_head = flow_id
        schedule(state, host.uplink, TIMER, time)
    else:
        flow.next = state.flows[before].next
        state.flows[before].next = flow_id
    if flow.next < 0:
        host.waiting_tail = flow_id


@inner
def _last_before(state, flow_id, time):
    """Return the last flow of a list that begins at a time or before; -1 if none does."""
    before = -1
    while flow_id >= 0 and state.flows[flow_id].begin <= time:
        before = flow_id
        flow_id = state.flows[flow_id].next
    return before


@inner
def _end(state, flow_id, host, now):
    """Note that all bytes are there, and start what waited for them, here or elsewhere."""
    counts = state.counts[0]
    state.flows[flow_id].end = now
    counts.flows_done += 1
    counts.last_end = max(counts.last_end, now)
    gap = state.settings[0].gap_between_operations
    for place in range(state.successor_start[flow_id], state.successor_start[flow_id + 1]):
        follower = state.successors[place]
        flow = state.flows[follower]
        flow.waits_for -= 1
        ended = now
        if flow.lag > 0:  # parts take turns: who comes last here need not be the latest
            ended = max(now, flow.begin)
            flow.begin = ended
        if flow.waits_for == 0:
            wait = gap + flow.lag
            if wait == 0 and flow.source == host:
                begin(state, follower, now)
            else:
                begin_later(state, follower, ended + wait)


@inner
def _answer(state, packet_id, answer, host):
    """Send the reply that a recovery wants, in the packet that called for it."""
    if answer & REPLY_NACK:
        state.counts[0].nacks += 1
        _reply(state, packet_id, NACK, host)
    elif answer & REPLY_ACK:
        _reply(state, packet_id, ACK, host)
    else:
        give_back(state, packet_id)


@inner
def _is_answered(settings, flow, packet, payload_bytes):
    """Say whether a packet is acknowledged now, and write what its answer is for into it.

    Held back are unmarked packets of a flow whose sender does not wait for them, until there
    are ``acknowledge_bytes`` of them. Those that a packet that asks, or its header, has
    overtaken are answered each.
    """
    if settings.acknowledge_bytes == 0:
        return True
    flow.owed_bytes += payload_bytes
    if packet.missing != 0:
        flow.last_cnp = max(flow.last_cnp, packet.sent_at)
    first, last = flow.received_bytes == payload_bytes, flow.received_bytes >= flow.total_bytes
    asked = packet.marked != 0 or packet.sent_at <= flow.last_cnp
    if not (first or last or asked or flow.owed_bytes >= settings.acknowledge_bytes):
        return False
    packet.payload_bytes = flow.owed_bytes
    flow.owed_bytes = 0
    return True


@inner
def _take_data(state, packet_id, host, now):
    packet = state.packets[packet_id]
    settings = settings_of(state, packet.traffic_class)
    flow_id = packet.flow
    flow = state.flows[flow_id]
    marked = packet.marked
    payload = packet.payload_bytes
    answer = on_data(settings.recovery, state, flow_id, packet)
    keep = answer & KEEP
    if keep:
        flow.received_bytes += payload
        if settings.feedback == BY_ACK and _is_answered(settings, flow, packet, payload):
            answer |= REPLY_ACK
    _answer(state, packet_id, answer, host)
    if settings.grants:
        came = payload if keep else 0
        on_arrival(settings.congestion, state, flow_id, came, 0, marked, now)
    if marked and settings.feedback == BY_CNP:
        _notify(state, flow_id, host, now)
    if keep and settings.relays:
        feed(state, flow_id, payload)
    if keep and flow.received_bytes >= flow.total_bytes:
        _end(state, flow_id, host, now)


@inner
def _take_ack(state, packet, host, now):
    settings = settings_of(state, packet.traffic_class)
    flow_id = packet.flow
    flow = state.flows[flow_id]
    flow.progress_at = now
    flow.telemetry = packet.telemetry
    if settings.chooses:
        _learn(state, settings, packet)
    on_acknowledged(settings.recovery, state, flow_id, packet)
    on_ack(
        settings.congestion, flow, settings.knobs, settings.line_ps_per_byte,
        packet.payload_bytes, packet.marked, now - packet.sent_at, now,
    )  # fmt: skip
    _go_on(state, flow_id, host)


@inner
def _learn(state, settings, packet):
    """Let a host that balances know how a packet fared: a mark is what there is to know."""
    choice = state.choices[packet.flow]
    learn_entropy(settings.balancing, choice, settings.entropies, packet.entropy, packet.marked)


@inner
def _go_on(state, flow_id, host):
    """Send more of a flow, or let it rest when all is known to have arrived."""
    flow = state.flows[flow_id]
    if flow.to_send_bytes > 0:
        join_ring(state, host, flow_id)
    elif flow.active and _is_over(state, flow_id):
        leave_ring(state, host, flow_id)


@inner
def _is_over(state, flow_id):
    flow = state.flows[flow_id]
    if settings_of(state, flow.traffic_class).numbered:
        return is_finished(state, flow_id)
    return flow.in_flight_bytes <= 0


@inner
def _send_again(state, packet, host, now):
    """Do what the receiver asks for."""
    flow_id = packet.flow
    settings = settings_of(state, packet.traffic_class)
    flow = state.flows[flow_id]
    flow.progress_at = now
    waiting = flow.to_send_bytes
    if settings.chooses:
        _learn(state, settings, packet)
    if settings.acknowledge_bytes > 0 and packet.missing != 0 and packet.first_missing > 0:
        _take_owed(settings, flow, packet, now)
    lost = on_nack(settings.recovery, state, flow_id, packet)
    _lose(state, flow, lost, flow.to_send_bytes - waiting, now)
    _go_on(state, flow_id, host)


@inner
def _take_owed(settings, flow, packet, now):
    """Take what the receiver had held back when the header of a packet that asks came."""
    flow.in_flight_bytes -= packet.first_missing
    on_ack(
        settings.congestion, flow, settings.knobs, settings.line_ps_per_byte,
        packet.first_missing, 0, now - packet.sent_at, now,
    )  # fmt: skip


@inner
def _lose(state, flow, lost_bytes, again_bytes, now):
    """Tell the congestion control what was lost; count what is sent again."""
    settings = settings_of(state, flow.traffic_class)
    state.counts[0].resent_bytes += again_bytes
    if lost_bytes > 0:
        on_loss(
            settings.congestion, flow, settings.knobs, settings.line_ps_per_byte,
            lost_bytes, now,
        )  # fmt: skip


@inner
def time_out(state, host, now):
    """Send again what a host's flows have waited for too long; set the timer for the rest."""
    earliest = NEVER
    for traffic_class in range(state.settings[0].classes):
        earliest = min(earliest, _time_out_class(state, host, traffic_class, now))
    state.hosts[host].timer_at = earliest


@inner
def _time_out_class(state, host, traffic_class, now):
    """Return when the first flow of a class will have waited for too long."""
    settings = settings_of(state, traffic_class)
    earliest = NEVER
    first = state.hosts[ring_of(state, host, traffic_class)].turn
    flow_id = first
    while flow_id >= 0:
        flow = state.flows[flow_id]
        if flow.acknowledged < flow.next_sequence:
            if flow.progress_at + settings.timeout <= now:
                flow.progress_at = now
                state.counts[0].timeouts += 1
                waiting = flow.to_send_bytes
                lost = on_timeout(settings.recovery, state, flow_id)
                _lose(state, flow, lost, flow.to_send_bytes - waiting, now)
            earliest = min(earliest, flow.progress_at + settings.timeout)
        flow_id = flow.next
        if flow_id == first:
            break
    return earliest


@inner
def receive_at_host(state, link_id, packet_id, now):
    """Take a packet that arrived at a host; return the uplink, which may have work now."""
    packet = state.packets[packet_id]
    host = state.links[link_id].target
    kind = packet.kind
    if kind == DATA:
        _take_data(state, packet_id, host, now)
    elif kind == TRIMMED:
        settings = settings_of(state, packet.traffic_class)
        cut = packet.payload_bytes
        if settings.acknowledge_bytes > 0 and packet.missing != 0:
            flow = state.flows[packet.flow]
            flow.last_cnp = max(flow.last_cnp, packet.sent_at)
            packet.first_missing = flow.owed_bytes
            flow.owed_bytes = 0
        answer = on_trimmed(settings.recovery, state, packet.flow, packet)
        if settings.grants:
            on_arrival(settings.congestion, state, packet.flow, 0, cut, packet.marked, now)
        _answer(state, packet_id, answer, host)
    else:
        _take_control(state, packet, kind, host, now)
        give_back(state, packet_id)
    return state.hosts[host].uplink


@inner
def _take_control(state, packet, kind, host, now):
    settings = settings_of(state, packet.traffic_class)
    if kind == ACK:
        _take_ack(state, packet, host, now)
    elif kind == CNP:
        flow = state.flows[packet.flow]
        on_cnp(settings.congestion, flow, settings.knobs, settings.line_ps_per_byte, now)
    elif kind == GRANT:
        granted = packet.sequence * settings.mtu_bytes
        on_grant(settings.congestion, state.flows[packet.flow], settings.knobs, granted)
    else:
        _send_again(state, packet, host, now)
    if settings.grants:
        on_answer(settings.congestion, state, packet.flow, host)
