"""ECMP: a hash of the flow picks the link, so all packets of a flow take one path."""

import numpy as np

from weft.engines.packet.balance import Balancing, choose, scramble, top_bits
from weft.kernel import inner

HASH_STEP = 2654435761
"""Each switch hashes differently: without it every tier would choose alike (polarisation)."""


@inner
def _pick(state, group, flow, link):
    first = state.group_start[group]
    count = state.group_start[group + 1] - first
    mixed = scramble(scramble(state.flows[flow].hash ^ (np.int64(group) * HASH_STEP)))
    return state.group_links[first + choose(top_bits(mixed), count)]


ecmp = Balancing(title="ECMP: a static hash of the flow", in_order=True, pick=_pick)
