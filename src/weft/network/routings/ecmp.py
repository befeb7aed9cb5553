"""ECMP: every flow keeps to one path, chosen at each switch by a hash [RFC 2992]."""

from weft.network.graph import Graph, Ints
from weft.network.routing import Demands, Hop, Paths, Routing, mixed, split, walk


def _route(graph: Graph, demands: Demands, seed: int) -> Paths:
    more = () if demands.entropy is None else (demands.entropy,)
    flow = mixed(demands.source, demands.target, seed, *more)
    plane = flow % graph.layout.planes if demands.plane is None else demands.plane
    ways = split(demands, 1, plane)

    def choose(hop: Hop) -> Ints:
        return mixed(flow[hop.path], hop.at)

    return walk(graph, ways, choose, gate=mixed(flow, 1))


ecmp = Routing(title="per-flow hashing", route=_route)
