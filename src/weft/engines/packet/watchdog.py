"""The pause watchdog: a queue that has been paused for too long is set free.

It breaks a storm at the price of losslessness. After a time the queue gets another chance; if
the far end still says pause, it is paused again. [SONiC, PFC watchdog]
"""

from weft.engines.packet.events import NEVER
from weft.engines.packet.flow_control import let_go, pause, set_watchdog, unpause
from weft.engines.packet.lanes import class_of, settings_of
from weft.engines.packet.tables import FlowControl, Watchdog
from weft.engines.packet.wire import give_back
from weft.kernel import inner

DROP = int(Watchdog.DROP)
NONE = int(FlowControl.NONE)


@inner
def watch(state, link_id, now):
    """Trip if the link is still paused, or end the time for which it was tripped."""
    link = state.links[link_id]
    settings = state.settings[0]
    link.watchdog_at = NEVER
    if link.tripped:
        link.tripped = 0
        link.bounded = 0
        link.limit_bytes = NEVER
        if link.told_to_pause:
            pause(state, link_id, now)
        return
    if link.paused == 0:
        return
    unpause(state, link_id, now)
    link.tripped = 1
    link.trips += 1
    state.counts[0].watchdog_trips += 1
    set_watchdog(state, link_id, now + settings.watchdog_restoration)
    if settings.watchdog == DROP:
        link.bounded = 1
        link.limit_bytes = -1
        _drop_queue(state, link_id, now)


@inner
def _drop_queue(state, link_id, now):
    """Drop all that waits; the links that it came from may resume."""
    link = state.links[link_id]
    settings = settings_of(state, class_of(state, link_id))
    packet_id = link.data_head
    while packet_id >= 0:
        packet = state.packets[packet_id]
        follower = packet.next
        link.queue_bytes -= packet.wire_bytes
        state.switches[link.source - settings.hosts].used_bytes -= packet.wire_bytes
        link.drops += 1
        state.counts[0].drops += 1
        if settings.flow_control != NONE:
            let_go(state, packet, link_id, now)
        give_back(state, packet_id)
        packet_id = follower
    link.data_head = -1
