"""Spraying: the packets of every flow go over all paths in turn.

A flow is cut into as many equal ways as its leaf has uplinks over all planes (at most 64),
each over another uplink, so two tiers are filled exactly evenly.
"""

import numpy as np

from weft.network.graph import Graph, Ints
from weft.network.routing import CORE, Demands, Hop, Paths, Routing, split, walk

_MOST_WAYS = 64
_GOLDEN = (5**0.5 - 1) / 2
_SILVER = 2**0.5 - 1
"""Multiples of these, modulo 1, are spread evenly whatever the number of links."""


def _route(graph: Graph, demands: Demands, seed: int) -> Paths:  # noqa: ARG001 - no chance here
    planes, uplinks = graph.layout.planes, max(1, _uplinks(graph))
    ways = max(planes, min(_MOST_WAYS, uplinks * planes) // planes * planes)
    flows = len(demands.source)
    turn = np.tile(np.arange(ways), flows)
    leaf = graph.leaf_of[demands.source, 0]
    port = graph.between(leaf, demands.source, demands.source + 1)[0] - graph.start[leaf]
    stride = max(1, uplinks * planes // ways)
    first = np.repeat(port, ways) + turn // planes * stride
    second = np.repeat(port + leaf, ways) + turn // planes // uplinks
    even = (turn * _GOLDEN + np.repeat((demands.source + port) * _SILVER, ways)) % 1

    def choose(hop: Hop) -> Ints:
        tier, path = graph.tier(hop.at), hop.path
        down = (even[path] * (hop.high - hop.low)).astype(np.int64)
        return np.where(tier == CORE, down, np.where(tier == 1, second[path], first[path]))

    gate = np.repeat(demands.source * ways, ways) + turn
    return walk(graph, split(demands, ways, turn % planes), choose, gate=gate)


def _uplinks(graph: Graph) -> int:
    """Return the uplinks of one leaf."""
    leaf = graph.first[0]
    targets = graph.target[graph.start[leaf] : graph.start[leaf + 1]]
    return int((targets >= graph.first[1]).sum())


spray = Routing(title="packet spraying", route=_route)
