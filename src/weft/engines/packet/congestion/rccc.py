"""RCCC: the receiver grants credit, one packet at a time, to its senders in turn.

A sender begins with a window that nobody granted, of which what it has not sent lapses with the
first answer (unless ``first_window_lapses`` is 0); its first packet tells the receiver how much
there is to come. The receiver keeps one round trip of its line rate on the way to it, all
senders together: every packet that arrives lets it grant another, or a few, so grants go out at
line rate and the queue in front of it stays near empty however many send. The credit of a
trimmed packet is spent: its header lets the receiver grant it again, in turn.

With ``grant_rate_ratio`` a clock spaces grants instead, at that share of the line, and where
the network between holds less than the line, by what it marks: a mean over ``rate_interval_ps``
of the share of packets that came marked, g, above ``marked_target_ratio`` cuts the rate by
``rate_cut_ratio`` (g - target); below it the rate grows by ``rate_step_ratio``. It does so
whether packets come or not, and stays above ``least_rate_ratio``: hosts of an oversubscribed
network that all fall to that share leave room in the network for its queues to drain.
Packets that were trimmed before the last link may lower the rate too, by ``trimmed_cut_ratio``
of their share, and steps may become longer, by ``step_growth_ratio`` from one to the next as
long as nothing comes marked.

[Ultra Ethernet Specification 1.0; the scheme is that of EQDS, Olteanu et al., NSDI 2022; the
rate that follows marks is that of ultraethernet/uet-htsim, sim/oversubscribed_cc.cpp]
"""

import numpy as np

from weft.engines.packet.balance import CUT as CUT_INSIDE
from weft.engines.packet.balance import MARKED, THIRTY_BITS, next_random_out
from weft.engines.packet.control import Control
from weft.engines.packet.events import NEVER
from weft.engines.packet.lanes import settings_of
from weft.engines.packet.tables import Feedback, Kind
from weft.engines.packet.wire import new_packet, queue_control
from weft.kernel import inner

CREDIT, LOST, ANSWERED, KNOWN, GRANTED, CUT, WANTS, NEXT, PREVIOUS = range(9)
"""The sender's: what it may send in all, what of that was lost, whether any answer came. The
receiver's: whether it has heard of the flow, what it has granted, what of that came trimmed,
whether the flow is in the ring of those that want more, and its neighbours there."""
BASE_RTT, START, MOST, RATE, INTERVAL, TARGET, DECREASE, STEP, LAPSES, LEAST, CUT_BY, GROWTH = (
    range(12)
)
OLD_SHARE = 0.5
MOST_RISES = 32
"""Further steps are no longer: a doubled step is beyond the line long before."""
GRANT, TRIMMED = int(Kind.GRANT), int(Kind.TRIMMED)


@inner
def _open(flow):
    """Let the flow send what is granted and neither sent nor lost: sent < credit - lost."""
    unsent = flow.to_send_bytes + flow.withheld_bytes
    acknowledged = flow.total_bytes - unsent - flow.in_flight_bytes
    flow.window_bytes = flow.cc[CREDIT] - flow.cc[LOST] - acknowledged


@inner
def _begin(flow, knobs, line_ps_per_byte, now):
    flow.pace_ps_per_byte = 0.0
    flow.cc[CREDIT] = min(flow.total_bytes, knobs[START])
    _open(flow)


@inner
def _ack(flow, knobs, line_ps_per_byte, payload_bytes, marked, round_trip, now):
    _open(flow)


@inner
def _loss(flow, knobs, line_ps_per_byte, payload_bytes, now):
    flow.cc[LOST] += payload_bytes
    _open(flow)


@inner
def _granted(flow, knobs, granted_bytes):
    """Take a grant: what may be sent in all, so one that is lost or late does no harm."""
    flow.cc[CREDIT] = max(flow.cc[CREDIT], granted_bytes)
    _open(flow)


@inner
def _first_bytes(state, knobs):
    """Return what a flow may send unasked: the first window, in whole packets."""
    mtu_bytes = state.settings[0].mtu_bytes
    return (int(knobs[START]) + mtu_bytes - 1) // mtu_bytes * mtu_bytes


@inner
def _answer(state, flow_id, host):
    """Let what is left of the first window lapse: the header of it asks for a grant."""
    flow = state.flows[flow_id]
    if flow.cc[ANSWERED] != 0.0:
        return
    flow.cc[ANSWERED] = 1.0
    knobs = settings_of(state, flow.traffic_class).knobs
    if knobs[LAPSES] == 0.0:
        return
    first = min(flow.total_bytes, _first_bytes(state, knobs))
    flow.cc[CREDIT] = max(flow.cc[CREDIT], first)
    _open(flow)
    unused = np.int64(min(flow.to_send_bytes, flow.window_bytes - flow.in_flight_bytes))
    if unused <= 0:
        return
    control_bytes = state.settings[0].control_bytes
    packet_id = new_packet(state, flow_id, flow.target, TRIMMED, control_bytes)
    state.packets[packet_id].payload_bytes = unused
    flow.to_send_bytes -= unused
    flow.in_flight_bytes += unused
    queue_control(state, state.links[state.hosts[host].uplink], packet_id)


@inner
def _join(state, host, flow_id):
    """Put a flow behind the others that want credit of a host."""
    flow = state.flows[flow_id]
    flow.cc[WANTS] = 1.0
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
    flow.cc[WANTS] = 0.0
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
    flow.cc[KNOWN] = 1.0
    flow.cc[GRANTED] = min(flow.total_bytes, _first_bytes(state, knobs))
    host.coming_bytes += int(flow.cc[GRANTED])
    if flow.cc[GRANTED] < flow.total_bytes:
        _join(state, host, flow_id)


@inner
def _wanted(flow):
    return flow.total_bytes + flow.cc[CUT] - flow.cc[GRANTED]


@inner
def _adapt(state, host, knobs, now):
    """Follow the share of packets that came marked with the rate of grants, now and then.

    How long until the next time is drawn, so that hosts do not act in step. Where no packet
    came in an interval, the share counts as 0.
    """
    if host.rate_until == 0:
        host.rate_until = _next_interval(state, host, knobs)
    while host.rate_until <= now:
        host.rate_until += _next_interval(state, host, knobs)
        share = host.seen_marked / max(1, host.seen)
        host.marked_ratio = OLD_SHARE * host.marked_ratio + (1 - OLD_SHARE) * share
        over = host.marked_ratio - knobs[TARGET]
        cut = knobs[CUT_BY] * host.seen_cut / max(1, host.seen + host.seen_cut)
        host.rate_ratio -= cut
        host.rate_ratio *= 1 - knobs[DECREASE] * max(0.0, over)
        if over > 0 or cut > 0:
            host.rises = 0
        else:
            step = knobs[STEP]
            for _ in range(host.rises if host.seen_marked == 0 else 0):
                step *= knobs[GROWTH]
            host.rate_ratio += step
            host.rises = min(host.rises + 1, MOST_RISES)
        host.rate_ratio = min(1.0, max(knobs[LEAST], host.rate_ratio))
        host.seen = 0
        host.seen_marked = 0
        host.seen_cut = 0


@inner
def _next_interval(state, host, knobs):
    spread = 0.75 + 0.5 * next_random_out(state.links[host.uplink]) / THIRTY_BITS
    return np.int64(knobs[INTERVAL] * spread)


@inner
def _grant(state, host):
    """Grant a packet to the flow whose turn it is."""
    flow_id = host.granting
    flow = state.flows[flow_id]
    settings = settings_of(state, flow.traffic_class)
    size = min(settings.mtu_bytes, int(_wanted(flow)))
    flow.cc[GRANTED] += size
    host.coming_bytes += size
    packet_id = new_packet(state, flow_id, flow.source, GRANT, settings.control_bytes)
    packet = state.packets[packet_id]
    packet.sequence = (int(flow.cc[GRANTED]) + settings.mtu_bytes - 1) // settings.mtu_bytes
    packet.entropy = packet.sequence & 0xFF
    queue_control(state, state.links[host.uplink], packet_id)
    state.counts[0].grants += 1
    if _wanted(flow) <= 0:
        _leave(state, host)
    else:
        host.granting = int(flow.cc[NEXT])


@inner
def _may_grant(host, settings):
    """Say whether a flow wants credit, and less than a round trip is on its way."""
    most = max(settings.knobs[BASE_RTT] / settings.line_ps_per_byte, settings.mtu_bytes)
    return host.granting >= 0 and host.coming_bytes + settings.mtu_bytes <= most


@inner
def _arrival(state, flow_id, payload_bytes, cut_bytes, marked, now):
    """Count what has come, and grant as much again: a round trip of the line is on its way."""
    flow = state.flows[flow_id]
    host = state.hosts[flow.target]
    settings = settings_of(state, flow.traffic_class)
    knobs = settings.knobs
    if flow.cc[KNOWN] == 0.0:
        _meet(state, host, flow_id, knobs)
    host.coming_bytes -= payload_bytes + cut_bytes  # below 0: packets are whole, grants are not
    flow.cc[CUT] += cut_bytes
    if cut_bytes > 0 and flow.cc[WANTS] == 0.0:
        _join(state, host, flow_id)
    if knobs[INTERVAL] > 0:
        _adapt(state, host, knobs, now)
        host.seen += payload_bytes > 0
        host.seen_marked += marked == MARKED and payload_bytes > 0
        host.seen_cut += marked == CUT_INSIDE
    left = int(knobs[MOST]) if knobs[RATE] == 0.0 else 0
    while left > 0 and _may_grant(host, settings):
        _grant(state, host)
        left -= 1


@inner
def _clock(state, host_id, now):
    """Grant what is due by the clock; return when the next grant is."""
    host = state.hosts[host_id]
    if host.granting < 0:
        return NEVER
    settings = settings_of(state, state.flows[host.granting].traffic_class)
    if settings.knobs[INTERVAL] > 0:
        _adapt(state, host, settings.knobs, now)
    rate = settings.knobs[RATE] * host.rate_ratio
    if rate == 0.0:
        return NEVER
    spacing = np.int64(settings.mtu_bytes * settings.line_ps_per_byte / rate)
    host.grant_at = max(host.grant_at, now - np.int64(settings.knobs[MOST]) * spacing)
    while host.grant_at <= now and _may_grant(host, settings):
        host.grant_at += spacing
        _grant(state, host)
    return host.grant_at if _may_grant(host, settings) else NEVER


rccc = Control(
    title="RCCC, the receiver-credit congestion control of Ultra Ethernet",
    feedback=Feedback.ACK,
    marking=False,
    knobs={
        "base_rtt_ps": 5e6,
        "start_window_bytes": 16_384,
        "most_grants_packets": 4,
        "grant_rate_ratio": 0.0,
        "rate_interval_ps": 0.0,
        "marked_target_ratio": 0.3,
        "rate_cut_ratio": 0.75,
        "rate_step_ratio": 0.05,
        "first_window_lapses": 1.0,
        "least_rate_ratio": 0.01,
        "trimmed_cut_ratio": 0.0,
        "step_growth_ratio": 1.0,
    },
    source="Ultra Ethernet Specification 1.0; Olteanu et al., EQDS, NSDI 2022",
    on_begin=_begin,
    on_ack=_ack,
    on_loss=_loss,
    on_arrival=_arrival,
    on_grant=_granted,
    on_answer=_answer,
    on_clock=_clock,
)
