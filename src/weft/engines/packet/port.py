"""A port: what a link's sender does next, and what a switch does with a packet."""

import numpy as np

from weft.engines.packet import congestion as _congestion  # noqa: F401 - part of the sources
from weft.engines.packet.balance import next_random_out
from weft.engines.packet.events import NEVER, schedule
from weft.engines.packet.flow_control import free_share, has_credit, hold, let_go
from weft.engines.packet.hooks import pick_link
from weft.engines.packet.sender import has_more, pull_packet, wait_until
from weft.engines.packet.tables import Event, FlowControl, Kind
from weft.engines.packet.wire import give_back, put_on_wire, queue_control, queue_data
from weft.kernel import inner, prefetch

START = int(Event.START)
NONE, CREDITS = int(FlowControl.NONE), int(FlowControl.CREDITS)
DATA, TRIMMED = int(Kind.DATA), int(Kind.TRIMMED)
SIXTEEN_MILLION = 1 << 24
WAIT, NOTHING = -1, -2
"""No packet now: a paced flow may have one later, or only another event can help."""


@inner
def kick(state, link_id, now):
    """Make sure that a port which has (or may have) something to send will look at it.

    The loop calls this once an event, so that all of sending is compiled once.
    """
    link = state.links[link_id]
    when = link.busy
    if link.start_at <= when:
        return
    if when <= now:
        when = transmit(state, link_id, now)
    if when < link.start_at:
        link.start_at = when
        schedule(state, link_id, START, when)


@inner
def transmit(state, link_id, now):
    """Send one packet if allowed; return when to look again (NEVER: somebody will kick)."""
    link = state.links[link_id]
    from_host = link.source < state.settings[0].hosts
    packet_id = np.int64(link.control_head)
    if packet_id >= 0:
        link.control_head = state.packets[packet_id].next
        state.counts[0].control_hops += 1
    else:
        if link.paused:
            return NEVER
        packet_id = (
            _next_from_host(state, link_id, now)
            if from_host
            else _next_from_queue(state, link_id, now)
        )
        if packet_id < 0:
            return wait_until(state, link.source, now) if packet_id == WAIT else NEVER
        state.counts[0].data_hops += 1
    put_on_wire(state, link_id, packet_id, now)
    more = has_more(state, link.source) if from_host else link.data_head >= 0
    return link.busy if more or link.control_head >= 0 else NEVER


@inner
def _next_from_host(state, link_id, now):
    """Build the next packet of the flow whose turn it is: until now it did not exist."""
    link = state.links[link_id]
    settings = state.settings[0]
    if settings.flow_control != CREDITS:
        return np.int64(pull_packet(state, link.source, now))
    if not has_credit(state, link_id, settings.mtu_bytes + settings.header_bytes, now):
        return NOTHING
    packet_id = np.int64(pull_packet(state, link.source, now))
    if packet_id >= 0:
        link.credits -= state.packets[packet_id].wire_bytes
    return packet_id


@inner
def _next_from_queue(state, link_id, now):
    """Take the first packet of a switch's queue, unless it lacks the credit."""
    link = state.links[link_id]
    settings = state.settings[0]
    packet_id = np.int64(link.data_head)
    if packet_id < 0:
        return NOTHING
    packet = state.packets[packet_id]
    if settings.flow_control == CREDITS and link.target >= settings.hosts:
        if not has_credit(state, link_id, packet.wire_bytes, now):
            return NOTHING
        link.credits -= packet.wire_bytes
    link.data_head = packet.next
    prefetch(state.packets, max(0, packet.next), 0)
    _mark(state, link, packet)
    if settings.telemetry:
        _write_load(state, link_id, packet, now)
    link.queue_bytes -= packet.wire_bytes
    if settings.shared:
        state.switches[link.source - settings.hosts].used_bytes -= packet.wire_bytes
    if settings.flow_control != NONE:
        let_go(state, packet, link_id, now)
    return packet_id


@inner
def _mark(state, link, packet):
    """Mark by the queue that the packet leaves behind: from Kmin, surely above Kmax."""
    settings = state.settings[0]
    queue = link.queue_bytes
    if settings.marking == 0 or packet.marked != 0 or queue <= settings.kmin_bytes:
        return
    if queue < settings.kmax_bytes:
        rise = (queue - settings.kmin_bytes) / (settings.kmax_bytes - settings.kmin_bytes)
        if (
            next_random_out(link) & (SIXTEEN_MILLION - 1)
        ) >= SIXTEEN_MILLION * settings.pmax * rise:
            return
    packet.marked = 1
    link.marks += 1
    state.counts[0].marks += 1


@inner
def _write_load(state, link_id, packet, now):
    """Let a packet carry the largest load of its path: U = q / (B T) + rate / B. [HPCC]"""
    link = state.links[link_id]
    load = state.loads[link_id]
    span = state.settings[0].load_span
    passed = now - load.begin
    if passed >= span:
        load.rate_ratio = (link.sent_bytes - load.sent_bytes) * link.ps_per_byte / passed
        load.begin = now
        load.sent_bytes = link.sent_bytes
    queued = link.queue_bytes * link.ps_per_byte / span
    packet.telemetry = max(packet.telemetry, queued + load.rate_ratio)


@inner
def _route(state, link_id, packet):
    """Return the link on which a switch forwards a packet."""
    settings = state.settings[0]
    host = packet.target
    switch = state.links[link_id].target - settings.hosts
    group = state.groups[switch * settings.leaves + state.leaf_of[host]]
    if group < 0:
        return state.last_link[host]
    first = state.group_start[group]
    if state.group_start[group + 1] - first == 1:
        return state.group_links[first]
    return pick_link(settings.balancing, state, group, packet.flow, state.links[link_id])


@inner
def receive_at_switch(state, link_id, packet_id, now):
    """Route a packet that arrived at a switch, account it, queue it; return whom to kick."""
    packet = state.packets[packet_id]
    settings = state.settings[0]
    out_id = _route(state, link_id, packet)
    out = state.links[out_id]
    if packet.kind == DATA and _is_too_much(state, state.links[link_id], packet, out):
        out.drops += 1
        if settings.trims == 0:
            state.counts[0].drops += 1
            give_back(state, packet_id)
            return -1
        state.counts[0].trims += 1
        packet.kind = TRIMMED
        packet.wire_bytes = settings.control_bytes
    if packet.kind != DATA:
        queue_control(state, out, packet_id)
        return out_id
    if settings.shared:
        _use_buffer(state, out.source - settings.hosts, packet.wire_bytes)
    if settings.flow_control != NONE:
        hold(state, link_id, packet, out_id, now)
    return out_id if queue_data(state, out, packet_id) else -1


@inner
def _is_too_much(state, link, packet, out):
    """Say whether a packet finds no room: in its queue, its headroom or the shared buffer."""
    settings = state.settings[0]
    queue = out.queue_bytes + packet.wire_bytes
    if queue > out.limit_bytes:
        return True
    if settings.flow_control != NONE:
        return link.ingress_bytes + packet.wire_bytes > settings.ingress_limit_bytes
    return settings.shared != 0 and queue > free_share(state, out.source - settings.hosts)


@inner
def _use_buffer(state, switch_id, size_bytes):
    switch = state.switches[switch_id]
    switch.used_bytes += size_bytes
    switch.largest_used_bytes = max(switch.largest_used_bytes, switch.used_bytes)
