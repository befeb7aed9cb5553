"""The bytes that a routing puts on every link."""

import numpy as np

from weft.network.graph import Floats, Graph
from weft.network.routing import Demands, Routing


def link_loads(graph: Graph, routing: Routing, demands: Demands, seed: int = 0) -> Floats:
    """Return the bytes that every link carries."""
    paths = routing.route(graph, demands, seed)
    carried = paths.share * demands.size_bytes[paths.flow]
    by_hop = np.repeat(carried, np.diff(paths.start))
    return np.bincount(paths.links, weights=by_hop, minlength=graph.links).astype(float)
