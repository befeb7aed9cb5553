"""RCCC: the receiver grants credit, one packet at a time, to its senders in turn.

A sender begins with a small window that nobody granted; its first packet tells the receiver how
much there is to come. The receiver keeps one round trip of its line rate on the way to it, all
senders together: every packet that arrives lets it grant another, so grants go out at line rate
and the queue in front of it stays near empty however many send. A trimmed packet keeps its
credit and is sent again with it. Hooks have no clock: where a NIC would space its first grants
by the line, here a packet lets it grant a few, until the round trip is full.

[Ultra Ethernet Specification 1.0; the scheme is that of EQDS, Olteanu et al., NSDI 2022]
"""

from weft.engines.packet.control import Control, ignore_cnp, ignore_send
from weft.engines.packet.lanes import settings_of
from weft.engines.packet.tables import Feedback, Kind
from weft.engines.packet.wire import queue_control, take_packet
from weft.kernel import inner

CREDIT, KNOWN, GRANTED, NEXT, PREVIOUS = range(5)
"""The sender's: what it may send in all. The rest the receiver's: whether it has heard of the
flow, what it has granted, and the flow's neighbours in the ring of those that want more."""
BASE_RTT, START, MOST = range(3)
GRANT = int(Kind.GRANT)


@inner
def _open(flow):
    """Let the flow send what is granted and not sent yet: sent < credit."""
    unsent = flow.to_send_bytes + flow.withheld_bytes
    flow.window_bytes = flow.cc[CREDIT] - (flow.total_bytes - unsent - flow.in_flight_bytes)


@inner
def _begin(flow, knobs, line_ps_per_byte, now):
    flow.pace_ps_per_byte = 0.0
    flow.cc[CREDIT] = knobs[START]
    _open(flow)


@inner
def _ack(flow, knobs, line_ps_per_byte, payload_bytes, marked, round_trip, now):
    _open(flow)


@inner
def _loss(flow, knobs, line_ps_per_byte, payload_bytes, now):
    _open(flow)


@inner
def _granted(flow, knobs, granted_bytes):
    """Take a grant: what may be sent in all, so one that is lost or late does no harm."""
    flow.cc[CREDIT] = max(flow.cc[CREDIT], granted_bytes)
    _open(flow)


@inner
def _join(state, host, flow_id):
    """Put a flow behind the others that want credit of a host."""
    flow = state.flows[flow_id]
    if host.granting < 0:
        host.granting = flow_id
        flow.cc[NEXT] = flow_id
        flow.cc[PREVIOUS] = flow_id
        return
    last = int(state.flows[host.granting].cc[PREVIOUS])
    flow.cc[NEXT] = host.granting
    flow.cc[PREVIOUS] = last
    state.flows[last].cc[NEXT] = flow_id
    state.flows[host.granting].cc[PREVIOUS] = flow_id


@inner
def _leave(state, host):
    """Take the flow whose turn it is out of the ring."""
    flow = state.flows[host.granting]
    follower, before = int(flow.cc[NEXT]), int(flow.cc[PREVIOUS])
    if follower == host.granting:
        host.granting = -1
        return
    state.flows[before].cc[NEXT] = follower
    state.flows[follower].cc[PREVIOUS] = before
    host.granting = follower


@inner
def _meet(state, host, flow_id, knobs):
    """Hear of a flow for the first time: what it sends without being asked is on its way."""
    flow = state.flows[flow_id]
    mtu_bytes = state.settings[0].mtu_bytes
    packets = (int(knobs[START]) + mtu_bytes - 1) // mtu_bytes
    flow.cc[KNOWN] = 1.0
    flow.cc[GRANTED] = min(flow.total_bytes, packets * mtu_bytes)
    host.coming_bytes += int(flow.cc[GRANTED])
    if flow.cc[GRANTED] < flow.total_bytes:
        _join(state, host, flow_id)


@inner
def _grant(state, host):
    """Grant a packet to the flow whose turn it is."""
    flow_id = host.granting
    flow = state.flows[flow_id]
    settings = settings_of(state, flow.traffic_class)
    size = min(settings.mtu_bytes, flow.total_bytes - int(flow.cc[GRANTED]))
    flow.cc[GRANTED] += size
    host.coming_bytes += size
    packet_id = take_packet(state)
    packet = state.packets[packet_id]
    packet.flow = flow_id
    packet.target = flow.source
    packet.traffic_class = flow.traffic_class
    packet.sequence = (int(flow.cc[GRANTED]) + settings.mtu_bytes - 1) // settings.mtu_bytes
    packet.payload_bytes = 0
    packet.marked = 0
    packet.kind = GRANT
    packet.wire_bytes = settings.control_bytes
    packet.ingress = -1
    queue_control(state, state.links[host.uplink], packet_id)
    state.counts[0].grants += 1
    if flow.cc[GRANTED] >= flow.total_bytes:
        _leave(state, host)
    else:
        host.granting = int(flow.cc[NEXT])


@inner
def _arrival(state, flow_id, payload_bytes, now):
    """Count what has come, and grant as much again: a round trip of the line is on its way."""
    flow = state.flows[flow_id]
    host = state.hosts[flow.target]
    settings = settings_of(state, flow.traffic_class)
    if flow.cc[KNOWN] == 0.0:
        _meet(state, host, flow_id, settings.knobs)
    host.coming_bytes = max(0, host.coming_bytes - payload_bytes)
    most = max(settings.knobs[BASE_RTT] / settings.line_ps_per_byte, settings.mtu_bytes)
    left = settings.knobs[MOST]
    while left >= 1.0 and host.granting >= 0 and host.coming_bytes + settings.mtu_bytes <= most:
        _grant(state, host)
        left -= 1.0


rccc = Control(
    title="RCCC, the receiver-credit congestion control of Ultra Ethernet",
    feedback=Feedback.ACK,
    marking=False,
    knobs={"base_rtt_ps": 5e6, "start_window_bytes": 16_384, "most_grants_packets": 4},
    source="Ultra Ethernet Specification 1.0; Olteanu et al., EQDS, NSDI 2022",
    on_begin=_begin,
    on_send=ignore_send,
    on_ack=_ack,
    on_cnp=ignore_cnp,
    on_loss=_loss,
    on_arrival=_arrival,
    on_grant=_granted,
)
