"""Limits of a NIC beside its port: messages a second, and connections that it remembers.

A message is a work request: ``message_bytes`` of a flow, or all of it; a NIC begins the next a
while after the last. A connection whose state the NIC does not hold is read from host memory:
with C places for N connections that come in turn at random, 1 - C / N of the turns miss.
"""

import numpy as np

from weft.kernel import inner


@inner
def _begins(state, flow):
    """Return how many messages begin in the next packet of a flow."""
    settings = state.settings[0]
    each = settings.message_bytes
    sent = flow.total_bytes - flow.withheld_bytes - flow.to_send_bytes
    after = sent + min(flow.to_send_bytes, settings.mtu_bytes)
    return (after + each - 1) // each - (sent + each - 1) // each


@inner
def ready_for(state, host_id, flow):
    """Return when the NIC can send a flow's next packet; one in mid-message holds nobody up."""
    host = state.hosts[host_id]
    if state.settings[0].limited == 0 or host.message_at <= host.ready:
        return host.ready
    return host.ready if _begins(state, flow) == 0 else host.message_at


@inner
def charge(state, host_id, flow, now):
    """Note when the NIC can begin the next packet, and the next message."""
    host = state.hosts[host_id]
    begun = _begins(state, flow)
    if begun > 0:
        host.message_at = np.int64(now + begun * host.message)
    if flow.hash != host.connection:
        host.connection = flow.hash
        host.ready = now + host.switch
