"""Flowlets: after a pause of its packets a flow draws a new link. [Vanini et al., NSDI 2017]

LetFlow: the draw is random, and slow paths make gaps and so lose flows. A switch remembers the
link of a flow in a table that is indexed by a hash, so flows may share an entry.
"""

from weft.engines.packet.balance import Balancing, choose, next_random, scramble, top_bits
from weft.engines.packet.lanes import settings_of
from weft.engines.packet.tables import FLOWLETS
from weft.kernel import inner


@inner
def _pick(state, group, packet, link):
    first = state.group_start[group]
    count = state.group_start[group + 1] - first
    switch = link.target - state.settings[0].hosts
    place = top_bits(scramble(scramble(state.flows[packet.flow].hash))) % FLOWLETS
    entry = state.flowlets[switch * FLOWLETS + place]
    now = state.counts[0].now
    gap = settings_of(state, packet.traffic_class).flowlet_gap
    paused = now - entry.seen > gap
    if paused or entry.link < 0 or entry.group != group:
        entry.group = group
        entry.link = state.group_links[first + choose(next_random(link), count)]
    entry.seen = now
    return entry.link


flowlet = Balancing(
    title="flowlets: a new link after every pause of a flow", in_order=True, pick=_pick
)
