"""The event loop: take the first event, set the clock, do what it says."""

import numpy as np

from weft.engines.packet.events import (
    LEAF_BITS,
    LEAF_MASK,
    NEVER,
    drop_first,
    look_ahead,
    replace_first,
    schedule,
)
from weft.engines.packet.flow_control import hear
from weft.engines.packet.port import kick, receive_at_switch, transmit
from weft.engines.packet.receiver import begin, begin_later, receive_at_host
from weft.engines.packet.tables import Event, Stop
from weft.kernel import entry, inner

ARRIVE, START, CONTROL = int(Event.ARRIVE), int(Event.START), int(Event.CONTROL)
DONE, UNTIL, POOL_LOW = int(Stop.DONE), int(Stop.UNTIL), int(Stop.POOL_LOW)
POOL_RESERVE = 4096
"""One event takes few packets; below this many free ones Python makes the pool larger."""


@inner
def _arrive(state, link_id, now):
    link = state.links[link_id]
    packet_id = np.int64(link.wire_head)
    follower = state.packets[packet_id].next
    link.wire_head = follower
    if follower >= 0:
        replace_first(state.tree, state.packets[follower].time)
    else:
        drop_first(state.tree)
    look_ahead(state, link_id * 4)
    if link.target < state.settings[0].hosts:
        receive_at_host(state, link_id, packet_id, now)
    else:
        receive_at_switch(state, link_id, packet_id, now)


@inner
def _start(state, link_id, now):
    link = state.links[link_id]
    drop_first(state.tree)
    look_ahead(state, link_id * 4)
    if link.start_at != now:
        return
    link.start_at = NEVER
    again = transmit(state, link_id, now)
    if again < NEVER:
        link.start_at = again
        schedule(state.tree, link_id * 4 + START, again)


@inner
def _begin_next(state, link_id, now):
    host = state.hosts[state.links[link_id].source]
    flow_id = np.int64(host.waiting_head)
    follower = state.flows[flow_id].next
    host.waiting_head = follower
    if follower >= 0:
        replace_first(state.tree, state.flows[follower].begin)
    else:
        drop_first(state.tree)
    begin(state, flow_id, now)


@entry
def run(state, until):
    """Process events up to a time; return a Stop."""
    enough = len(state.packets) - POOL_RESERVE
    counts = state.counts[0]
    while True:
        key = state.tree[1]
        now = key >> LEAF_BITS
        if now > until:
            return DONE if key == NEVER else UNTIL
        if counts.packets_alive > enough:
            return POOL_LOW
        leaf = key & LEAF_MASK
        link_id = leaf >> 2
        kind = leaf & 3
        counts.events += 1
        counts.now = now
        if kind == ARRIVE:
            _arrive(state, link_id, now)
        elif kind == START:
            _start(state, link_id, now)
        elif kind == CONTROL:
            if hear(state, link_id, now):
                kick(state, link_id, now)
        else:
            _begin_next(state, link_id, now)


@entry
def begin_flows(state, order):
    """Queue flows to start at their ``begin``; ``order`` sorts them by time."""
    for place in range(len(order)):
        flow_id = order[place]
        begin_later(state, flow_id, state.flows[flow_id].begin)
