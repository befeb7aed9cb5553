"""ECMP: a hash of the flow picks the link, so all packets of a flow take one path."""

from typing import Any

import numpy as np

from weft.engines.packet.balance import Balancing, choose
from weft.kernel import inner

LOW_31_BITS = 0x7FFFFFFF
GROUP_STEP, SPREAD = 0x61C88647, 0x4F1BBCDD
"""Odd numbers of 31 bits: products stay within 63, so nothing overflows."""


@inner
def _pick(state, group, flow, link):
    """Mix the flow with the switch by a product, whose carries tie no tier to another.

    With shifts and exclusive or alone, flows that share a link in one tier would share one in
    the next too (polarisation).
    """
    first = state.group_start[group]
    count = state.group_start[group + 1] - first
    here = (np.int64(group + 1) * GROUP_STEP) & LOW_31_BITS
    mixed = (((state.flows[flow].hash & LOW_31_BITS) ^ here) * SPREAD) & LOW_31_BITS
    return state.group_links[first + choose(mixed >> 1, count)]


def place_of(hashes: Any, group: Any, count: Any) -> Any:  # noqa: ANN401 - arrays
    """Return which of its links a group gives each hash, as ``_pick`` does for one."""
    here = (group + 1) * GROUP_STEP & LOW_31_BITS
    mixed = ((hashes & LOW_31_BITS) ^ here) * SPREAD & LOW_31_BITS
    return (mixed >> 1) * count >> 30


ecmp = Balancing(title="ECMP: a static hash of the flow", in_order=True, pick=_pick)
