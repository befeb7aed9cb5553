"""Link-level flow control: pauses above a threshold (PFC) and credits.

Both keep one account a lane: what a switch holds of each link's data of a class. A message to
the lane's sender takes the cable's time and waits in a ring of the lane.

InfiniBand's credits are counted in bytes here, and each packet that has left is reported at
once. Ultra Ethernet's (CBFC) are units of a size that both ends agree on: a packet takes
``ceil((size + overhead) / unit)`` of them, and the receiver reports all that were freed since
its last update, keeping a least spacing between updates. [Ultra Ethernet Specification 1.0,
section 5.2, as SAI's Credit-based flow control sums it up]
"""

import numpy as np

from weft.engines.packet.events import NEVER, drop, replace, schedule, schedule_no_later
from weft.engines.packet.lanes import class_of, lane_of, link_of, settings_of
from weft.engines.packet.tables import RING, Event, FlowControl, Kind, Watchdog
from weft.engines.packet.wire import (
    give_back,
    ring_append,
    ring_time,
    ring_value,
    serialisation,
)
from weft.kernel import choice, inner

CONTROL = int(Event.CONTROL)
PFC, CREDITS = int(FlowControl.PFC), int(FlowControl.CREDITS)
CBFC = int(FlowControl.CBFC)
LOST = int(Kind.LOST)
ASLEEP, WAKING = 1, 2
RESUME, PAUSE = 0, 1
CROWDED, CROWD_SHIFT = RING - 64, 5
"""From so many messages on 32 more go in a cable's time, 64 until it is sure that one came."""
TIMER = int(Event.TIMER)
OFF = int(Watchdog.OFF)


@inner
def hold(state, link_id, packet, out_id, now):
    """Account a packet that a switch took in from a lane; pause the lane above XOFF."""
    link = state.links[link_id]
    settings = settings_of(state, packet.traffic_class)
    packet.ingress = link_id
    link.ingress_bytes += packet.wire_bytes
    if (
        settings.flow_control == PFC
        and link.xoff_sent == 0
        and link.ingress_bytes > _xoff_bytes(state, link, settings)
    ):
        link.xoff_sent = 1
        state.counts[0].pauses += 1
        _record_pause(state, link_id, out_id, now)
        _tell_pause(state, link_id, now + link.propagation, PAUSE)


@inner
def free_share(state, switch, settings):
    """Return what one queue of a class may take of a shared buffer: alpha times the free."""
    free = settings.buffer_bytes - state.switches[switch].used_bytes
    return np.int64(settings.alpha * free)


@inner
def _xoff_bytes(state, link, settings):
    if settings.shared == 0:
        return settings.xoff_bytes
    return min(settings.xoff_bytes, free_share(state, link.target - settings.hosts, settings))


@inner
def _record_pause(state, link_id, cause, now):
    """Note which link's queue made a switch pause another, while there is room."""
    counts = state.counts[0]
    row = counts.pauses_recorded
    state.links[link_id].pause_row = -1
    if row < counts.pause_rows:
        counts.pauses_recorded += 1
        state.links[link_id].pause_row = row
        pause = state.pauses[row]
        pause.link = link_id
        pause.cause = cause
        pause.begin = now
        pause.end = -1


@inner
def _resume(state, link_id, leaving_id, now):
    """Let a link go on, and blame the queue that held it up until now."""
    link = state.links[link_id]
    link.xoff_sent = 0
    if link.pause_row >= 0:
        state.pauses[link.pause_row].end = now
        state.pauses[link.pause_row].cause = leaving_id
    _tell_pause(state, link_id, now + link.propagation, RESUME)


@inner
def let_go(state, packet, leaving_id, now):
    """Account a packet that starts to leave its switch over the lane ``leaving_id``."""
    link_id = packet.ingress
    if link_id < 0:
        return
    link = state.links[link_id]
    settings = settings_of(state, packet.traffic_class)
    link.ingress_bytes -= packet.wire_bytes
    if settings.flow_control >= CREDITS:
        gone = now + serialisation(packet.wire_bytes, state.links[leaving_id])
        _return_credit(state, link_id, settings, packet.wire_bytes, gone, now)
    elif link.xoff_sent == 1:
        hysteresis = settings.xoff_bytes - settings.xon_bytes
        if link.ingress_bytes <= max(0, _xoff_bytes(state, link, settings) - hysteresis):
            _resume(state, link_id, leaving_id, now)


@inner
def _tell_pause(state, link_id, time, value):
    """Write a pause or its end. They take turns, so a full ring takes the last of them back."""
    link = state.links[link_id]
    waiting = link.ring_tail - link.ring_head
    if waiting >= RING - 2:
        last = ring_time(state, link_id, link.ring_tail - 1)
        if last == time if value == RESUME else waiting >= RING - 1:
            link.ring_tail -= 1  # a pause of no length, or the end of one that then lasts
            return
    if waiting == 0:
        schedule(state, link_id, CONTROL, time)
    ring_append(state, link_id, time, value)


@inner
def credit_of(settings, size_bytes):
    """Return the units of credit that a packet takes."""
    if settings.flow_control == CREDITS:
        return np.int64(size_bytes)
    unit = settings.credit_unit_bytes
    return np.int64((size_bytes + settings.credit_overhead_bytes + unit - 1) // unit)


@inner
def _return_credit(state, link_id, settings, size_bytes, gone, now):
    """Give credit back. The sender reads the ring when short, so this is no event."""
    link = state.links[link_id]
    credit = credit_of(settings, size_bytes)
    time = gone + link.propagation
    spacing = _spacing(state, link_id, settings, now)
    last = ring_time(state, link_id, link.ring_tail - 1)
    waiting = link.ring_tail - link.ring_head
    joins = waiting == RING  # the ring is full: the last message carries this credit too
    if settings.flow_control == CBFC:
        time += serialisation(settings.update_bytes, link)
    if spacing >= 0:
        joins |= waiting > 0 and last >= time  # it has not left yet
        if link.ring_tail > 0:
            time = max(time, last if joins else last + spacing)
    elif waiting > 0:
        time = max(time, last)
    if joins:
        credit += ring_value(state, link_id, link.ring_tail - 1)
        link.ring_tail -= 1
    ring_append(state, link_id, time, credit)
    if link.blocked == ASLEEP:
        link.blocked = WAKING
        schedule(state, link_id, CONTROL, time)


@inner
def _spacing(state, link_id, settings, now):
    """Return the least time between messages of credit; -1: each packet's goes by itself.

    Where more are under way than the ring holds well, they go a part of the cable's time apart.
    """
    link = state.links[link_id]
    spacing = np.int64(-1)
    if settings.flow_control == CBFC:
        spacing = serialisation(settings.spacing_bytes, link)
    if link.ring_tail - link.ring_head >= CROWDED:
        _make_room(state, link_id, now)
        if link.ring_tail - link.ring_head >= CROWDED:
            spacing = max(spacing, np.int64(link.propagation >> CROWD_SHIFT))
    return spacing


@inner
def _make_room(state, link_id, now):
    """Read what has reached a sender that was not short, up to where its part is for sure."""
    part = state.links[link_of(state, link_id)].part
    ahead = 0 if part[0] == part[1] else state.counts[0].lookahead
    _collect_credit(state, link_id, now - ahead)


@inner
def drop_damaged(state, link_id, packet_id, now):
    """Drop a packet that came with bit errors; if it took credit, give that back."""
    link = state.links[link_id]
    packet = state.packets[packet_id]
    settings = settings_of(state, packet.traffic_class)
    took_credit = packet.kind == LOST and link.target >= settings.hosts
    if took_credit and settings.flow_control >= CREDITS:
        lane_id = lane_of(state, link_id, packet.traffic_class)
        _return_credit(state, lane_id, settings, packet.wire_bytes, now, now)
    give_back(state, packet_id)
    return -1


@inner
def has_credit(state, link_id, credit, now):
    """Say whether a packet may be sent; if not, the link sleeps until credit comes."""
    link = state.links[link_id]
    if link.credits < credit:
        _collect_credit(state, link_id, now)
        if link.credits < credit:
            _sleep(state, link_id)
            return False
    return True


@inner
def _collect_credit(state, link_id, now):
    link = state.links[link_id]
    while link.ring_head != link.ring_tail and ring_time(state, link_id, link.ring_head) <= now:
        link.credits += ring_value(state, link_id, link.ring_head)
        link.ring_head += 1


@inner
def _sleep(state, link_id):
    link = state.links[link_id]
    if link.blocked:
        return
    link.pauses += 1
    link.blocked = ASLEEP
    if link.ring_head != link.ring_tail:
        link.blocked = WAKING
        schedule(state, link_id, CONTROL, ring_time(state, link_id, link.ring_head))


@inner
def hear(state, link_id, now):
    """Take the control message that reached a lane's sender; return the link if it may send."""
    link = state.links[link_id]
    settings = settings_of(state, class_of(state, link_id))
    if settings.flow_control >= CREDITS and link.target >= settings.hosts:
        drop(state, link_id, CONTROL)
        link.blocked = 0
        _collect_credit(state, link_id, now)
        return link_of(state, link_id)
    value = ring_value(state, link_id, link.ring_head)
    link.ring_head += 1
    if link.ring_head != link.ring_tail:
        replace(state, link_id, CONTROL, ring_time(state, link_id, link.ring_head))
    else:
        drop(state, link_id, CONTROL)
    link.told_to_pause = value
    if link.tripped:
        return -1
    if value == PAUSE:
        pause(state, link_id, now)
        return -1
    return unpause(state, link_id, now)


@inner
def pause(state, link_id, now):
    """Stop the sender of a link."""
    link = state.links[link_id]
    settings = state.settings[0]
    link.paused = 1
    link.pauses += 1
    link.paused_since = now
    if settings.watchdog != OFF and link.source >= settings.hosts:
        set_watchdog(state, link_id, now + settings.watchdog_detection)


@inner
def unpause(state, link_id, now):
    """Let the sender of a lane go on; return its link."""
    link = state.links[link_id]
    link.paused_total += now - link.paused_since
    link.paused = 0
    link.watchdog_at = NEVER
    return link_of(state, link_id)


@inner
def set_watchdog(state, link_id, time):
    """Let the watchdog of a link look at a time; its leaf is shared with the host's timer."""
    link = state.links[link_id]
    link.watchdog_at = time
    if time < next_timer(state, link_id, NEVER):
        schedule_no_later(state, link_id, TIMER, time)


@inner
def next_timer(state, link_id, watchdog_at):
    """Return the next time that a timer of a lane from a switch is due."""
    link = state.links[link_id]
    if serves_host(state, link_id):
        return min(watchdog_at, state.hosts[link.target].timer_at)
    return watchdog_at


@inner
def serves_host(state, link_id):
    """Say whether a lane shares its timer with a host: the first lane of its downlink does."""
    settings = state.settings[0]
    to_host = state.links[link_id].target < settings.hosts
    return to_host and (link_id < settings.links if choice(state) else True)
