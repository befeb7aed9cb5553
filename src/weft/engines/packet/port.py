"""A port: what a link's sender does next, and what a switch does with a packet."""

import numpy as np

from weft.engines.packet import congestion as _congestion  # noqa: F401 - part of the sources
from weft.engines.packet.balance import CUT, THIRTY_BITS, next_random_out
from weft.engines.packet.events import NEVER, schedule
from weft.engines.packet.flow_control import credit_of, free_share, has_credit, hold, let_go
from weft.engines.packet.hooks import on_clock, pick_link
from weft.engines.packet.lanes import (
    NOBODY,
    class_of,
    first_priority,
    lane_of,
    link_of,
    pay,
    ring_of,
    settings_of,
    take_turn,
)
from weft.engines.packet.sender import has_more, may_send_now, pull_packet, wait_until
from weft.engines.packet.tables import Event, FlowControl, Kind
from weft.engines.packet.wire import (
    give_back,
    put_on_wire,
    queue_control,
    queue_data,
    swap_contents,
)
from weft.kernel import choice, inner, prefetch

START = int(Event.START)
NONE, CREDITS = int(FlowControl.NONE), int(FlowControl.CREDITS)
DATA, TRIMMED = int(Kind.DATA), int(Kind.TRIMMED)
SIXTEEN_MILLION = 1 << 24
NOT_TO_HOSTS = 2
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
        due = _grant_by_clock(state, link, now)
        when = transmit(state, link_id, now)
        when = min(when, max(link.busy, due))
    if when < link.start_at:
        link.start_at = when
        schedule(state, link_id, START, when)


@inner
def _grant_by_clock(state, link, now):
    """Let a host that grants credit do so before it sends; return when it wants to again."""
    settings = state.settings[0]
    if settings.clocked == 0 or link.source >= settings.hosts:
        return NEVER
    flow_id = state.hosts[link.source].granting
    if flow_id < 0:
        return NEVER
    own = settings_of(state, state.flows[flow_id].traffic_class)
    return on_clock(own.congestion, state, link.source, now)


@inner
def transmit(state, link_id, now):
    """Send one packet if allowed; return when to look again (NEVER: somebody will kick)."""
    link = state.links[link_id]
    settings = state.settings[0]
    from_host = link.source < settings.hosts
    packet_id = np.int64(link.control_head)
    if packet_id >= 0:
        link.control_head = state.packets[packet_id].next
        state.counts[0].control_hops += 1
    else:
        lane_id = _next_lane(state, link_id, now) if choice(state) else link_id
        if lane_id == NOBODY:
            return _look_again(state, link_id, now) if from_host else NEVER
        if state.links[lane_id].paused:
            return NEVER
        packet_id = (
            _next_from_host(state, lane_id, now)
            if from_host
            else _next_from_queue(state, lane_id, now)
        )
        if packet_id < 0:
            return _look_again(state, link_id, now) if packet_id == WAIT else NEVER
        state.counts[0].data_hops += 1
        if choice(state):
            pay(state, lane_id, state.packets[packet_id].wire_bytes)
    put_on_wire(state, link_id, packet_id, now)
    more = link.control_head >= 0 or _has_more(state, link_id, from_host)
    return link.busy if more else NEVER


@inner
def _has_more(state, link_id, from_host):
    """Say whether anything waits at a port, of any class."""
    link = state.links[link_id]
    if not choice(state):
        return has_more(state, link.source) if from_host else link.data_head >= 0
    settings = state.settings[0]
    for traffic_class in range(settings.classes):
        lane = state.links[lane_of(state, link_id, traffic_class)]
        if from_host:
            waits = has_more(state, ring_of(state, lane.source, traffic_class))
        else:
            waits = lane.data_head >= 0
        if waits:
            return True
    return False


@inner
def _next_lane(state, link_id, now):
    """Return the lane whose turn it is among those that have a packet and may send it."""
    settings = state.settings[0]
    ready = np.int64(0)
    for traffic_class in range(settings.classes):
        if _is_ready(state, lane_of(state, link_id, traffic_class), now):
            ready |= np.int64(1) << traffic_class
    if ready == 0:
        return np.int64(NOBODY)
    traffic_class = take_turn(state, link_id, first_priority(state, ready))
    return np.int64(lane_of(state, link_id, traffic_class))


@inner
def _is_ready(state, lane_id, now):
    lane = state.links[lane_id]
    if lane.paused or lane.blocked:
        return False
    settings = settings_of(state, class_of(state, lane_id))
    if lane.source < settings.hosts:
        size_bytes = settings.mtu_bytes + settings.header_bytes
        waits = may_send_now(state, lane.source, class_of(state, lane_id), now)
    else:
        size_bytes = np.int64(state.packets[max(lane.data_head, 0)].wire_bytes)
        waits = lane.data_head >= 0
    if not waits or settings.flow_control < CREDITS or lane.target < settings.hosts:
        return waits
    return has_credit(state, lane_id, credit_of(settings, size_bytes), now)


@inner
def _look_again(state, link_id, now):
    """Return when a paced flow of a host, of a class that nothing stops, may send."""
    if not choice(state):
        return wait_until(state, state.links[link_id].source, 0, now)
    settings = state.settings[0]
    earliest = NEVER
    for traffic_class in range(settings.classes):
        lane = state.links[lane_of(state, link_id, traffic_class)]
        if lane.paused == 0 and lane.blocked == 0:
            when = wait_until(state, lane.source, traffic_class, now)
            earliest = min(earliest, when)
    return earliest


@inner
def _next_from_host(state, link_id, now):
    """Build the next packet of the flow whose turn it is: until now it did not exist."""
    link = state.links[link_id]
    traffic_class = class_of(state, link_id)
    settings = settings_of(state, traffic_class)
    if settings.flow_control < CREDITS:
        return np.int64(pull_packet(state, link.source, traffic_class, now))
    largest = credit_of(settings, settings.mtu_bytes + settings.header_bytes)
    if not has_credit(state, link_id, largest, now):
        return NOTHING
    packet_id = np.int64(pull_packet(state, link.source, traffic_class, now))
    if packet_id >= 0:
        link.credits -= credit_of(settings, state.packets[packet_id].wire_bytes)
    return packet_id


@inner
def _next_from_queue(state, link_id, now):
    """Take the first packet of a switch's queue, unless it lacks the credit."""
    link = state.links[link_id]
    packet_id = np.int64(link.data_head)
    if packet_id < 0:
        return NOTHING
    packet = state.packets[packet_id]
    settings = settings_of(state, packet.traffic_class)
    if settings.flow_control >= CREDITS and link.target >= settings.hosts:
        credit = credit_of(settings, packet.wire_bytes)
        if not has_credit(state, link_id, credit, now):
            return NOTHING
        link.credits -= credit
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
    settings = settings_of(state, packet.traffic_class)
    queue = link.queue_bytes
    if settings.marking == 0 or packet.marked != 0 or queue <= settings.kmin_bytes:
        return
    if settings.marking == NOT_TO_HOSTS and link.target < settings.hosts:
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
    wire = state.links[link_of(state, link_id)]
    load = state.loads[link_id]
    span = settings_of(state, packet.traffic_class).load_span
    passed = now - load.begin
    if passed >= span:
        load.rate_ratio = (wire.sent_bytes - load.sent_bytes) * link.ps_per_byte / passed
        load.begin = now
        load.sent_bytes = wire.sent_bytes
    queued = link.queue_bytes * link.ps_per_byte / span
    packet.telemetry = max(packet.telemetry, queued + load.rate_ratio)


@inner
def _route(state, link_id, packet):
    """Return the link on which a switch forwards a packet."""
    settings = settings_of(state, packet.traffic_class)
    host = packet.target
    switch = state.links[link_id].target - settings.hosts
    group = state.groups[switch * settings.leaves + state.leaf_of[host]]
    if group < 0:
        return state.last_link[host]
    first = state.group_start[group]
    if state.group_start[group + 1] - first == 1:
        return state.group_links[first]
    return pick_link(settings.balancing, state, group, packet, state.links[link_id])


@inner
def receive_at_switch(state, link_id, packet_id, now):
    """Route a packet that arrived at a switch, account it, queue it; return whom to kick."""
    packet = state.packets[packet_id]
    settings = settings_of(state, packet.traffic_class)
    out_id = np.int64(_route(state, link_id, packet))
    lane_id = lane_of(state, out_id, packet.traffic_class)
    from_id = lane_of(state, link_id, packet.traffic_class)
    out = state.links[lane_id]
    if packet.kind == DATA and _is_too_much(state, state.links[from_id], packet, out):
        out.drops += 1
        if settings.trims == 0:
            state.counts[0].drops += 1
            give_back(state, packet_id)
            return -1
        state.counts[0].trims += 1
        if settings.trims_last_ratio > 0 and _trims_last(state, settings, out, packet):
            swap_contents(state.packets[out.data_tail], packet)
        packet.kind = TRIMMED
        packet.wire_bytes = settings.control_bytes
        if out.target >= settings.hosts:
            packet.marked = CUT
    if packet.kind != DATA:
        queue_control(state, state.links[out_id], packet_id)
        return out_id
    if settings.shared:
        _use_buffer(state, out.source - settings.hosts, packet.wire_bytes)
    if settings.flow_control != NONE:
        hold(state, from_id, packet, lane_id, now)
    return out_id if queue_data(state, out, packet_id) else -1


@inner
def _trims_last(state, settings, out, packet):
    """Say whether a full queue trims its last packet in place of the one that comes.

    A coin, so that what comes in step with others is not trimmed again and again. [NDP]
    """
    if out.data_head < 0 or next_random_out(out) >= THIRTY_BITS * settings.trims_last_ratio:
        return False
    return state.packets[out.data_tail].wire_bytes == packet.wire_bytes


@inner
def _is_too_much(state, link, packet, out):
    """Say whether a packet finds no room: in its queue, its headroom or the shared buffer."""
    settings = settings_of(state, packet.traffic_class)
    queue = out.queue_bytes + packet.wire_bytes
    if out.bounded and queue > out.limit_bytes:
        return True
    if settings.flow_control != NONE:
        return link.ingress_bytes + packet.wire_bytes > settings.ingress_limit_bytes
    return settings.shared != 0 and queue > free_share(
        state, out.source - settings.hosts, settings
    )


@inner
def _use_buffer(state, switch_id, size_bytes):
    switch = state.switches[switch_id]
    switch.used_bytes += size_bytes
    switch.largest_used_bytes = max(switch.largest_used_bytes, switch.used_bytes)
