"""ECMP: a hash of the flow picks the link, so all packets of a flow take one path."""

from weft.engines.packet.balance import Balancing, hashed_link
from weft.kernel import inner


@inner
def _pick(state, group, packet, link):
    return hashed_link(state, group, state.flows[packet.flow].hash)


ecmp = Balancing(title="ECMP: a static hash of the flow", in_order=True, pick=_pick)
