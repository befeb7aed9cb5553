"""The event loop: take the first event, set the clock, do what it says."""

import numpy as np

from weft.engines.packet.events import (
    LEAF_BITS,
    LEAF_MASK,
    NEVER,
    close_turn,
    drop,
    part_of,
    replace,
    schedule,
)
from weft.engines.packet.fetch import fetch
from weft.engines.packet.flow_control import drop_damaged, hear, next_timer, serves_host
from weft.engines.packet.lanes import lane_of, link_of
from weft.engines.packet.port import kick, receive_at_switch
from weft.engines.packet.receiver import begin, begin_later, receive_at_host, time_out
from weft.engines.packet.tables import Event, Kind, Stop
from weft.engines.packet.watchdog import watch
from weft.engines.packet.wire import ring_time
from weft.kernel import entry, inner, prefetch

ARRIVE, START = int(Event.ARRIVE), int(Event.START)
CONTROL, TIMER = int(Event.CONTROL), int(Event.TIMER)
DONE, UNTIL, POOL_LOW = int(Stop.DONE), int(Stop.UNTIL), int(Stop.POOL_LOW)
LOST = int(Kind.LOST)
POOL_RESERVE = 4096
"""One event takes few packets; below this many free ones Python makes the pool larger."""


@inner
def _arrive(state, link_id, now):
    link = state.links[link_id]
    packet_id = np.int64(link.wire_head)
    follower = state.packets[packet_id].next
    link.wire_head = follower
    if follower >= 0:
        replace(state, link_id, ARRIVE, state.packets[follower].time)
        prefetch(state.packets, max(0, state.packets[follower].next), 0)
    else:
        drop(state, link_id, ARRIVE)
    if state.packets[packet_id].kind >= LOST:
        return drop_damaged(state, link_id, packet_id, now)
    if link.target < state.settings[0].hosts:
        return receive_at_host(state, link_id, packet_id, now)
    return receive_at_switch(state, link_id, packet_id, now)


@inner
def _start(state, link_id, now):
    link = state.links[link_id]
    drop(state, link_id, START)
    if link.start_at != now:
        return -1
    link.start_at = NEVER
    return link_id


@inner
def _timer(state, link_id, now):
    """Begin a host's next flow (the event of its uplink), or look whether timers are due."""
    link = state.links[link_id]
    if link.source >= state.settings[0].hosts:
        return _due(state, link_id, now)
    host = state.hosts[link.source]
    flow_id = np.int64(host.waiting_head)
    follower = state.flows[flow_id].next
    host.waiting_head = follower
    if follower >= 0:
        replace(state, link_id, TIMER, state.flows[follower].begin)
    else:
        drop(state, link_id, TIMER)
    begin(state, flow_id, now)
    return link_id


@inner
def _due(state, link_id, now):
    link = state.links[link_id]
    wake = link_id
    to_host = serves_host(state, link_id)
    if to_host and state.hosts[link.target].timer_at <= now:
        time_out(state, link.target, now)
        wake = np.int64(state.hosts[link.target].uplink)
    if link.watchdog_at <= now:
        watch(state, link_id, now)
        wake = link_of(state, link_id)
    again = next_timer(state, link_id, link.watchdog_at)
    if again < NEVER:
        replace(state, link_id, TIMER, again)
    else:
        drop(state, link_id, TIMER)
    return wake


@inner
def _handle(state, kind, link_id, now):
    """Do what an event says; return the link whose sender may have work now, or -1."""
    if kind == ARRIVE:
        return _arrive(state, link_id, now)
    if kind == START:
        return _start(state, link_id, now)
    if kind == CONTROL:
        return hear(state, link_id, now)
    return _timer(state, link_id, now)


@entry
def run(state, until):
    """Process events up to a time; return a Stop.

    The part of the network whose event is the first of all takes a turn: its events up to the
    time at which another part could have anything to say to it.
    """
    counts = state.counts[0]
    enough = counts.pool_packets - POOL_RESERVE
    while True:
        key = state.tree[1]
        now = key >> LEAF_BITS
        if now > until:
            return DONE if key == NEVER else UNTIL
        part = state.parts[part_of(state, key)]
        root = np.int64(part.root)
        counts.root = root
        fetch(state, part)
        begun = np.int64(counts.events)
        end = (min(now + counts.lookahead, until + 1)) << LEAF_BITS
        while key < end and counts.packets_alive <= enough:
            now = key >> LEAF_BITS
            counts.events += 1
            counts.now = now
            leaf = key & LEAF_MASK
            wake = np.int64(_handle(state, leaf & 3, leaf >> 2, now))
            if wake >= 0:
                kick(state, wake, now)
            key = state.tree[root]
        close_turn(state, root)
        part.events = counts.events - begun
        counts.latest = max(counts.latest, now)
        if counts.packets_alive > enough:
            return POOL_LOW


def begin_flows(state, order):
    """Queue flows to start at their ``begin``; ``order`` sorts them by time."""
    _begin_flows(state, order, len(order))


@entry
def _begin_flows(state, order, count):
    """Queue the first flows.

    Pauses that were written beforehand (a receiver that will stop draining) are queued too.
    """
    settings = state.settings[0]
    for lane in range(settings.hosts * settings.classes):
        traffic_class, host = lane // settings.hosts, lane % settings.hosts
        link_id = lane_of(state, state.hosts[host].downlink, traffic_class)
        link = state.links[link_id]
        if link.ring_head != link.ring_tail:
            schedule(state, link_id, CONTROL, ring_time(state, link_id, link.ring_head))
    for place in range(count):
        flow_id = order[place]
        begin_later(state, flow_id, state.flows[flow_id].begin)
