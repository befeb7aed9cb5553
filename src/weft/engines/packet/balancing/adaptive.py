"""Adaptive routing: every packet takes the link with the shortest queue that is not paused."""

from weft.engines.packet.balance import Balancing, choose, next_random
from weft.engines.packet.lanes import lane_of
from weft.kernel import inner

PAUSED_PENALTY_BYTES = 1 << 40


@inner
def _pick(state, group, packet, link):
    first = state.group_start[group]
    count = state.group_start[group + 1] - first
    turn = choose(next_random(link), count)  # ties are broken at random, not by link number
    best_bytes = 1 << 60
    best = -1
    for step in range(count):
        place = turn + step
        if place >= count:
            place -= count
        candidate = state.group_links[first + place]
        row = state.links[lane_of(state, candidate, packet.traffic_class)]
        waiting = row.queue_bytes
        if row.paused:
            waiting += PAUSED_PENALTY_BYTES
        if waiting < best_bytes:
            best_bytes = waiting
            best = candidate
    return best


adaptive = Balancing(title="adaptive routing: the shortest queue", in_order=False, pick=_pick)
