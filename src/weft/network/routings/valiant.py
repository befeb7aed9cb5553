"""Valiant: every flow goes over all groups of a dragonfly+ that hold neither end, evenly.

Any pattern of traffic then loads the links between groups like uniform traffic, twice over.
Where each of g groups sends S bytes to the next one, a pair of groups carries 2 S / (g - 2)
instead of S [Valiant & Brebner 1981; Kim 2008]. Flows inside a group, and
networks in tiers, keep their minimal paths.
"""

import numpy as np

from weft.network.detour import chosen, joined, pieces_of, without_dead
from weft.network.graph import Graph
from weft.network.routing import Demands, Paths, Routing, pools


def _route(graph: Graph, demands: Demands, seed: int) -> Paths:
    pieces = pieces_of(graph, demands, seed)
    stays = np.ones(len(pieces.round), bool)
    stays[pieces.detoured] = False
    paths = joined(chosen(pieces.minimal, np.flatnonzero(stays)), pieces.detours)
    return without_dead(graph, paths, pools(graph))


valiant = Routing(title="Valiant, over all other groups", route=_route, has_detours=True)
