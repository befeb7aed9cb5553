"""Adaptive: every switch sends to its least loaded uplink, in small pieces of a flow.

A flow is cut into four pieces (one a plane where there are more) that are placed one after
another, each where the local link carries least so far: what a switch can know.
"""

import numpy as np

from weft.network.graph import Floats, Graph, Ints
from weft.network.routing import Demands, Hop, Paths, Routing, mixed, split, walk

_PIECES = 4


def _route(graph: Graph, demands: Demands, seed: int) -> Paths:
    planes = graph.layout.planes
    ways = max(1, _PIECES // planes) * planes
    turn = np.tile(np.arange(ways), len(demands.source))
    carried = np.zeros(graph.links)
    size_bytes = np.repeat(demands.size_bytes / ways, ways)

    def choose(hop: Hop) -> Ints:
        return _least_loaded(hop, carried, size_bytes)

    gate = mixed(demands.source, demands.target, seed).repeat(ways) + turn
    return walk(graph, split(demands, ways, turn % planes), choose, gate=gate)


def _least_loaded(hop: Hop, carried: Floats, size_bytes: Floats) -> Ints:
    """Place pieces one by one; of equal links, each vertex takes them in turn."""
    chosen = np.empty_like(hop.low)
    for index in range(len(hop.low)):
        low, high = hop.low[index], hop.high[index]
        best = int(np.argmin(carried[low:high])) if high - low > 1 else 0
        carried[low + best] += size_bytes[hop.path[index]]
        chosen[index] = best
    return chosen


adaptive = Routing(title="adaptive, least loaded link", route=_route)
