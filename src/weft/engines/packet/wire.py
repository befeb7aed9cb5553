"""Packets between their places: the pool they come from, the queues, the wire."""

from math import log

import numpy as np

from weft.engines.packet.balance import THIRTY_BITS, next_random_out
from weft.engines.packet.events import schedule
from weft.engines.packet.tables import RING, RING_MASK, Event, Kind
from weft.kernel import inner

ARRIVE, CONTROL = int(Event.ARRIVE), int(Event.CONTROL)
DATA, LOST, LOST_CONTROL = int(Kind.DATA), int(Kind.LOST), int(Kind.LOST_CONTROL)


@inner
def _take(state):
    """Take a packet from the pool; the loop sees to it that there is one."""
    counts = state.counts[0]
    packet = np.int64(counts.free_packet)
    if packet >= 0:
        counts.free_packet = state.packets[packet].next
    else:
        packet = np.int64(counts.fresh_packet)
        counts.fresh_packet += 1
    counts.packets_alive += 1
    return packet


@inner
def new_packet(state, flow_id, target, kind, wire_bytes):
    """Return a packet of a flow to a host that carries nothing and is not marked."""
    packet_id = _take(state)
    packet = state.packets[packet_id]
    packet.flow = flow_id
    packet.target = target
    packet.traffic_class = state.flows[flow_id].traffic_class
    packet.kind = kind
    packet.wire_bytes = wire_bytes
    packet.ingress = -1
    packet.sequence = 0
    packet.payload_bytes = 0
    packet.entropy = 0
    packet.missing = 0
    packet.marked = 0
    return packet_id


@inner
def swap_contents(one, other):
    """Let two packets of data change places: of one size and class, without an account."""
    one.flow, other.flow = other.flow, one.flow
    one.target, other.target = other.target, one.target
    one.sent_at, other.sent_at = other.sent_at, one.sent_at
    one.payload_bytes, other.payload_bytes = other.payload_bytes, one.payload_bytes
    one.sequence, other.sequence = other.sequence, one.sequence
    one.missing, other.missing = other.missing, one.missing
    one.marked, other.marked = other.marked, one.marked
    one.entropy, other.entropy = other.entropy, one.entropy
    one.telemetry, other.telemetry = other.telemetry, one.telemetry


@inner
def give_back(state, packet):
    """Return a packet to the pool."""
    counts = state.counts[0]
    state.packets[packet].next = counts.free_packet
    counts.free_packet = packet
    counts.packets_alive -= 1


@inner
def serialisation(size_bytes, link):
    """Return the time to put so many bytes on a link, rounded once."""
    return np.int64(size_bytes * link.ps_per_byte + 0.5)


@inner
def put_on_wire(state, link_id, packet_id, now):
    """Send a packet: it arrives after its serialisation (or its first bytes) and the cable."""
    link = state.links[link_id]
    packet = state.packets[packet_id]
    settings = state.settings[0]
    duration = serialisation(packet.wire_bytes, link)
    link.sent_bytes += packet.wire_bytes
    if link.faulty and link.sent_bytes > link.error_at:
        now = _go_wrong(state, link, packet, now, duration)
    link.busy = now + duration
    if link.target >= settings.hosts and settings.cut_through_bytes < packet.wire_bytes:
        duration = serialisation(settings.cut_through_bytes, link)
    packet.time = now + duration + link.propagation
    packet.next = -1
    if link.wire_head < 0:
        link.wire_head = packet_id
        schedule(state, link_id, ARRIVE, packet.time)
    else:
        state.packets[link.wire_tail].next = packet_id
    link.wire_tail = packet_id


@inner
def _go_wrong(state, link, packet, now, duration):
    """Damage a packet, or with link-level retry return when its good copy starts.

    Errors come at random, one in ``error_gap_bytes`` in the mean. With retry the far end asks
    for the frame again and everything behind it waits: a round trip and the frame once more.
    """
    while link.sent_bytes > link.error_at:
        link.error_at += exponential_bytes(link)
        link.errors += 1
        state.counts[0].errors += 1
        if state.settings[0].link_retry == 0:
            packet.kind = LOST if packet.kind == DATA else LOST_CONTROL
        else:
            now += duration + 2 * link.propagation
            link.sent_bytes += packet.wire_bytes
    return now


@inner
def exponential_bytes(link):
    """Draw the number of bytes to the next error of a link."""
    uniform = (next_random_out(link) + 1) / THIRTY_BITS
    return np.int64(-log(uniform) * link.error_gap_bytes) + 1


@inner
def queue_control(state, link, packet_id):
    """Put a packet at the end of a port's control queue."""
    state.packets[packet_id].next = -1
    if link.control_head < 0:
        link.control_head = packet_id
    else:
        state.packets[link.control_tail].next = packet_id
    link.control_tail = packet_id


@inner
def queue_data(state, link, packet_id):
    """Put a packet at the end of a port's data queue; return whether it was empty."""
    packet = state.packets[packet_id]
    packet.next = -1
    link.queue_bytes += packet.wire_bytes
    link.largest_queue_bytes = max(link.largest_queue_bytes, link.queue_bytes)
    empty = link.data_head < 0
    if empty:
        link.data_head = packet_id
    else:
        state.packets[link.data_tail].next = packet_id
    link.data_tail = packet_id
    return empty


@inner
def ring_time(state, link_id, slot):
    """Return when a control message of a link's ring reaches the sender."""
    return state.rings[2 * (link_id * RING + (slot & RING_MASK))]


@inner
def ring_value(state, link_id, slot):
    """Return what the control message says."""
    return state.rings[2 * (link_id * RING + (slot & RING_MASK)) + 1]


@inner
def ring_append(state, link_id, time, value):
    """Write a control message for the sender of a link."""
    link = state.links[link_id]
    place = 2 * (link_id * RING + (link.ring_tail & RING_MASK))
    state.rings[place] = time
    state.rings[place + 1] = value
    link.ring_tail += 1
