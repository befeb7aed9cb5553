"""D-mod-k: the destination alone decides every uplink, as in static InfiniBand routing.

Port p of leaf l is number l * k + p; the first uplink is its digit p, the second l, so any
shift of the ports of a leaf is free of conflicts [Zahavi 2012].
"""

import numpy as np

from weft.network.graph import Graph, Ints
from weft.network.routing import CORE, Demands, Hop, Paths, Routing, split, walk
from weft.network.topology import Mesh


def _route(graph: Graph, demands: Demands, seed: int) -> Paths:  # noqa: ARG001 - no chance here
    port, leaf = _digits(graph, demands.target)
    plane = port % graph.layout.planes if demands.plane is None else demands.plane
    ways = split(demands, 1, plane)

    def choose(hop: Hop) -> Ints:
        tier, by_port, by_leaf = graph.tier(hop.at), port[hop.path], leaf[hop.path]
        down = _from_core(graph, hop, by_port, by_leaf)
        return np.where(tier == 1, by_leaf, np.where(tier == CORE, down, by_port))

    return walk(graph, ways, choose, gate=port + leaf)


def _from_core(graph: Graph, hop: Hop, port: Ints, leaf: Ints) -> Ints:
    """Choose the spine by port, as on the way up, and among parallel links by leaf."""
    wiring = graph.layout.wiring
    if isinstance(wiring, Mesh):
        return port
    spines = graph.group_spines[graph.group[graph.leaf_of[hop.target, 0]]]
    reached = np.maximum(1, (spines[:, 1] - spines[:, 0]) // max(1, wiring.core_groups))
    parallel = np.maximum(1, (hop.high - hop.low) // reached)
    spine = port // max(1, wiring.core_groups) % reached
    chosen: Ints = spine * parallel + leaf % parallel
    return chosen


def _digits(graph: Graph, target: Ints) -> tuple[Ints, Ints]:
    """Return the port of each target on its leaf, and the leaf."""
    leaf = graph.leaf_of[target, 0]
    here, _ = graph.between(leaf, target, target + 1)
    return here - graph.start[leaf], leaf - graph.first[0]


static_dmodk = Routing(title="static, by destination (D-mod-k)", route=_route)
