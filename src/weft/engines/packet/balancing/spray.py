"""Packet spraying: every packet takes a link at random."""

from weft.engines.packet.balance import Balancing, choose, next_random
from weft.kernel import inner


@inner
def _pick(state, group, packet, link):
    first = state.group_start[group]
    count = state.group_start[group + 1] - first
    return state.group_links[first + choose(next_random(link), count)]


spray = Balancing(title="packet spraying: every packet at random", in_order=False, pick=_pick)
