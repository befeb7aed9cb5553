"""Relays: flows that send what other flows have brought, packet by packet.

A switch that reduces sends a byte on once all of its feeders have delivered it; one that
copies sends it to several. With a lead a flow may be so many bytes ahead of its feeders: a
rank that waits for results is bound so to the buffers of the switches.
"""

import numpy as np

from weft.engines.packet.sender import join_ring
from weft.kernel import inner


@inner
def feed(state, flow_id, payload_bytes):
    """Let the flows of a relay go on if the feeder that was last has delivered."""
    number = state.relay_of[flow_id]
    if number < 0:
        return
    relay = state.relays[number]
    if state.flows[flow_id].received_bytes - payload_bytes > relay.low_bytes:
        return
    relay.ahead += 1
    if relay.ahead < relay.feeders:
        return
    before = relay.low_bytes
    _find_slowest(state, relay)
    first = relay.first + relay.feeders
    for place in range(first, first + relay.fed):
        _release(state, state.relayed[place], before + relay.lead_bytes, relay)


@inner
def _find_slowest(state, relay):
    """Find what every feeder has delivered, and how many have delivered more."""
    low = state.flows[state.relayed[relay.first]].received_bytes
    ahead = 0
    for place in range(relay.first + 1, relay.first + relay.feeders):
        low = min(low, state.flows[state.relayed[place]].received_bytes)
    for place in range(relay.first, relay.first + relay.feeders):
        if state.flows[state.relayed[place]].received_bytes > low:
            ahead += 1
    relay.low_bytes = low
    relay.ahead = ahead


@inner
def _release(state, flow_id, before_bytes, relay):
    """Let a flow send more; one that has not begun will find it when it does."""
    flow = state.flows[flow_id]
    total = flow.total_bytes
    now_bytes = relay.low_bytes + relay.lead_bytes
    brought = np.int64(min(total, now_bytes) - min(total, before_bytes))
    flow.to_send_bytes += brought
    flow.withheld_bytes -= brought
    if flow.to_send_bytes > 0 and flow.window_bytes > 0.0:
        join_ring(state, flow.source, flow_id)
