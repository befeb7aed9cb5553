"""Static routes: forwarding tables name one link a destination, so there is nothing to pick.

Where tables say nothing (to switches that reduce), a flow keeps to one link by its hash.
"""

from weft.engines.packet.balance import Balancing
from weft.engines.packet.balancing.ecmp import ecmp

static = Balancing(
    title="static routes: one link a destination, from forwarding tables",
    in_order=True,
    pick=ecmp.pick,
)
