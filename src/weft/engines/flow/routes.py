"""Which links flows use: one path each where a hash or a table chooses, all where they spread.

Spraying and adaptive routing give every uplink of a switch the same load, so the links that
they choose from are one resource of their summed rate: the uplinks of a leaf, those of a group
to the cores, and the same on the way down. What reordering or a late choice costs is not in it.
"""

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from weft import plugins
from weft.engines.flow.solver import Uses
from weft.errors import Infeasible, SpecError
from weft.network import routings
from weft.network.detour import DETOURS
from weft.network.graph import Floats, Graph, Ints
from weft.network.routing import Demands, Paths, Routing, mixed, pools

PATHS: Final = {"ecmp": "ecmp", "flowlet": "ecmp", "static": "static_dmodk"}
"""Balancing -> routing that gives each flow one path; with flowlets its first (flowlets.py)."""
SPREAD: Final = frozenset({"spray", "adaptive", "planned", "scheduled"}) | DETOURS
"""Planned paths and cells of a scheduled fabric collide no more than sprayed packets do."""
REORDERED: Final = SPREAD - {"valiant"}
"""Modes whose published share is reordering and late choices, which flows do not see; that of
Valiant is its second link between groups, which they count."""
MOST_TRIES: Final = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Routed:
    """Flows on the links that they use."""

    bytes_per_s: Floats
    """By link, or by set of links that carry the same."""
    uses: Uses
    links: Ints
    """By flow: links from end to end, of its longest path."""
    length_m: Floats
    """By flow: cable from end to end, of its longest path."""


def routed(
    graph: Graph,
    demands: Demands,
    balancing: str,
    *,
    seed: int = 0,
    ratio: Floats | None = None,
) -> Routed:
    """Route flows over a graph whose links have a ``ratio`` of their rate left (none: all).

    A link of ratio 0 is down: paths avoid it, as routing does once it has converged. Raises
    Infeasible where a flow has no path left, SpecError where there is no such balancing.
    """
    left = np.ones(graph.links) if ratio is None else ratio
    if balancing not in PATHS and balancing not in SPREAD:
        known = ", ".join(sorted({*PATHS, *SPREAD}))
        raise SpecError(f"no load balancing is called {balancing!r}; there are: {known}")
    rate = graph.rate_bytes_per_s * left
    up, pool = left > 0, np.arange(graph.links)
    if balancing in SPREAD:
        pool = pools(graph)
        rate = np.bincount(pool, weights=rate).astype(float)
    if balancing in DETOURS:
        up = rate[pool] > 0
        graph = replace(graph, rate_bytes_per_s=graph.rate_bytes_per_s * left)
    name = balancing if balancing in DETOURS else PATHS.get(balancing, "ecmp")
    routing = plugins.load(routings, name, Routing)
    paths = _alive(graph, demands, routing, seed, up)
    uses = Uses(start=paths.start, links=pool[paths.links])
    if balancing in DETOURS:
        uses = coupled(uses, paths.flow, paths.share)
    cable = np.add.reduceat(graph.length_m[paths.links], paths.start[:-1])
    flows = len(demands.source)
    # A resource of rate 0 is on no path; the solver wants rates above 0 everywhere.
    return Routed(
        bytes_per_s=np.where(rate > 0, rate, 1.0), uses=uses,
        links=_longest(paths.flow, np.diff(paths.start), flows).astype(np.int64),
        length_m=_longest(paths.flow, cable, flows),
    )  # fmt: skip


def _longest(flow: Ints, values: Floats | Ints, flows: int) -> Floats:
    """Return the largest value of the paths of every flow."""
    found = np.zeros(flows)
    np.maximum.at(found, flow, values)
    return found


def _alive(
    graph: Graph, demands: Demands, routing: Routing, seed: int, up: npt.NDArray[np.bool_]
) -> Paths:
    """Route flows; those that meet a link that is down are hashed again until none does."""
    paths = routing.route(graph, demands, seed)
    if up.all():
        return paths
    for attempt in range(1, MOST_TRIES + 1):
        dead = np.add.reduceat(~up[paths.links], paths.start[:-1]) > 0
        if not dead.any():
            return paths
        again = np.flatnonzero(dead)
        ecmp = plugins.load(routings, "ecmp", Routing)
        flow = paths.flow[again]
        plane = None if demands.plane is None else demands.plane[flow]
        other = Demands(
            source=demands.source[flow], target=demands.target[flow],
            size_bytes=demands.size_bytes[flow], plane=plane,
            entropy=mixed(again, attempt),
        )  # fmt: skip
        paths = _replaced(paths, again, ecmp.route(graph, other, seed))
    dead = np.add.reduceat(~up[paths.links], paths.start[:-1]) > 0
    raise Infeasible(
        f"flow {paths.flow[dead][0]}: no path of {MOST_TRIES} tried avoids the links that are "
        "down; a NIC or a leaf without links cannot be routed around"
    )


def _replaced(paths: Paths, which: Ints, other: Paths) -> Paths:
    """Put other paths in the places of some."""
    lengths = np.diff(paths.start)
    new = lengths.copy()
    new[which] = np.diff(other.start)
    start = np.concatenate([[0], np.cumsum(new)])
    links = np.empty(start[-1], np.int64)
    kept = np.ones(len(lengths), bool)
    kept[which] = False
    links[np.repeat(kept, new)] = paths.links[np.repeat(kept, lengths)]
    links[np.repeat(~kept, new)] = other.links
    return replace(paths, start=start, links=links)


def coupled(uses: Uses, team: Ints, weight: Floats) -> Uses:
    """Return the uses of teams whose flows all run at the rate of the slowest.

    ``team`` and ``weight`` are by flow. A pipeline (a ring, one send over several queue pairs)
    moves as fast as its slowest part, so it is one flow that uses all links of its parts.
    """
    links = int(uses.links.max(initial=0)) + 1
    lengths = np.diff(uses.start)
    keys = np.repeat(team, lengths) * links + uses.links
    found, place = np.unique(keys, return_inverse=True)
    each = np.repeat(weight, lengths) * (1.0 if uses.weight is None else uses.weight)
    summed = np.bincount(place, weights=each, minlength=len(found)).astype(float)
    owner, link = np.divmod(found, links)
    teams = int(team.max(initial=-1)) + 1
    start = np.searchsorted(owner, np.arange(teams + 1))
    return Uses(start=start, links=link, weight=summed)
