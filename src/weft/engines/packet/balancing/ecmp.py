"""ECMP: a hash of the flow picks the link, so all packets of a flow take one path."""

from typing import Any

from weft.engines.packet.balance import (
    GROUP_STEP,
    LOW_31_BITS,
    SPREAD,
    Balancing,
    hashed_link,
)
from weft.kernel import inner


@inner
def _pick(state, group, packet, link):
    return hashed_link(state, group, state.flows[packet.flow].hash)


def place_of(hashes: Any, group: Any, count: Any) -> Any:  # noqa: ANN401 - arrays
    """Return which of its links a group gives each hash, as ``_pick`` does for one."""
    here = (group + 1) * GROUP_STEP & LOW_31_BITS
    mixed = ((hashes & LOW_31_BITS) ^ here) * SPREAD & LOW_31_BITS
    return (mixed >> 1) * count >> 30


ecmp = Balancing(title="ECMP: a static hash of the flow", in_order=True, pick=_pick)
