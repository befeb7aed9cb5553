"""Pieces of flows on a dragonfly+, and their paths through a group that holds neither end.

From the source's group a global link leads to the middle group, and one from there to the
target's. Where the spine that a path comes in by has no link to the target's group, it goes
down to a leaf and up to the spine that has: spines of a group are not joined directly
[Shpiner 2017]. Such paths need one more virtual lane than the minimal ones to be free of
deadlock; lanes are not part of paths.
"""

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from weft.network.graph import Graph, Ints, gateway
from weft.network.routing import Demands, Hop, Paths, Walk, mixed, split, walk
from weft.network.topology import Mesh

DETOURS: Final = frozenset({"ugal", "valiant"})
"""Routings that also lead through a group of a dragonfly+ that holds neither end."""
NONE: Final = -1
MOST_PIECES, FEWEST_PIECES = 64, 8
"""Of a flow, in each plane."""
MOST_IN_ALL: Final = 1 << 20
"""Pieces of all flows, as far as the fewest allow: what fits into memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pieces:
    """Flows cut into equal pieces, each with its minimal path and its detour, if it has one."""

    round: Ints
    """By piece: its number in its flow (and plane)."""
    minimal: Paths
    detoured: Ints
    """Pieces that have a detour: ends in two groups, and a third beside them."""
    detours: Paths
    """Of those pieces, in their order."""


def pieces_of(graph: Graph, demands: Demands, seed: int) -> Pieces:
    """Cut flows into pieces, and spread them over minimal paths and middle groups."""
    planes = 1 if demands.plane is not None else graph.layout.planes
    mesh = graph.layout.wiring
    middles = max(0, mesh.groups - 2) if isinstance(mesh, Mesh) else 0
    flows = len(demands.source)
    count = _pieces(flows * planes, middles)
    number = np.tile(np.arange(count * planes), flows)
    turn, plane = np.divmod(number, planes)
    plane = plane if demands.plane is None else demands.plane.repeat(count)
    ways = split(demands, count * planes, plane)
    minimal = _minimal(graph, ways, turn, seed)
    if not isinstance(mesh, Mesh) or not middles:
        nothing = np.zeros(0, np.int64)
        return Pieces(
            round=turn, minimal=minimal, detoured=nothing, detours=chosen(minimal, nothing)
        )
    ends = _ends(graph, ways, mesh)
    away = np.flatnonzero(ends.here != ends.there)
    detours = _detours(graph, _some(ways, away), turn[away] + seed)
    return Pieces(round=turn, minimal=minimal, detoured=away, detours=detours)


def _pieces(flows: int, middles: int) -> int:
    """Return how many pieces a flow is cut into: if possible, as many for every middle."""
    most = max(FEWEST_PIECES, min(MOST_PIECES, MOST_IN_ALL // max(1, flows)))
    return most // middles * middles if 0 < middles <= most else most


def _minimal(graph: Graph, ways: Walk, turn: Ints, seed: int) -> Paths:
    spread = mixed(ways.source, ways.target, turn, seed)

    def choose(hop: Hop) -> Ints:
        return mixed(spread[hop.path], hop.at)

    return walk(graph, ways, choose, gate=ways.source + turn)


def _some(ways: Walk, which: Ints) -> Walk:
    return Walk(
        flow=ways.flow[which], source=ways.source[which], target=ways.target[which],
        plane=ways.plane[which], share=ways.share[which],
    )  # fmt: skip


def _detours(graph: Graph, ways: Walk, turn: Ints) -> Paths:
    """Take middle groups in turn, by the place of the source in its group."""
    mesh, site = graph.layout.wiring, graph.layout.site
    assert isinstance(mesh, Mesh), "only groups that are joined directly have one between them"
    ends, middles = _ends(graph, ways, mesh), mesh.groups - 2
    size = mesh.group.trays * site.ports_per_tray
    place, far = ways.source % size, ways.target % size
    middle = _nth_middle(ends, (place + turn) % middles)
    return through(graph, ways, middle, (place // middles + turn, far // middles + turn))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ends:
    """Groups, from 0 in their network, and leaves at both ends of each way."""

    here: Ints
    there: Ints
    leaf: Ints
    last_leaf: Ints
    base: Ints
    """The first group of the network."""


def _ends(graph: Graph, ways: Walk, mesh: Mesh) -> _Ends:
    leaf, last_leaf = (graph.leaf_of[port, ways.plane] for port in (ways.source, ways.target))
    base = graph.group[leaf] // mesh.groups * mesh.groups
    return _Ends(
        here=graph.group[leaf] - base, there=graph.group[last_leaf] - base, leaf=leaf,
        last_leaf=last_leaf, base=base,
    )  # fmt: skip


def _nth_middle(ends: _Ends, number: Ints) -> Ints:
    """Return the group with a number among those that hold neither end."""
    first, second = np.minimum(ends.here, ends.there), np.maximum(ends.here, ends.there)
    beyond_first = number + (number >= first)
    return np.asarray(beyond_first + (beyond_first >= second))


def through(graph: Graph, ways: Walk, middle: Ints, turn: tuple[Ints, Ints]) -> Paths:
    """Return the path of every way through a middle group.

    ``turn`` says which of the links from group to group a way takes, to the middle group and
    on to the target's (modulo their number); the first also chooses the leaf between spines.
    """
    mesh = graph.layout.wiring
    assert isinstance(mesh, Mesh), "only groups that are joined directly have one between them"
    ends = _ends(graph, ways, mesh)
    first, second = (ndarray % mesh.links_per_pair for ndarray in turn)
    out, into = _gateways(graph, mesh, ends.base, (ends.here, middle), first)
    away, home = _gateways(graph, mesh, ends.base, (middle, ends.there), second)
    leaves = mesh.group.leaves
    between = graph.first[0] + (ends.base + middle) * leaves + turn[0] % leaves
    same = into == away
    stops = np.stack(
        [
            ways.source, ends.leaf, out, into,
            np.where(same, NONE, between), np.where(same, NONE, away),
            home, ends.last_leaf, ways.target,
        ],
        axis=1,
    )  # fmt: skip
    return _along(graph, ways, stops, turn[0] + turn[1])


def _gateways(
    graph: Graph, mesh: Mesh, base: Ints, pair: tuple[Ints, Ints], which: Ints
) -> tuple[Ints, Ints]:
    """Return the spines at both ends of a link between two groups."""
    near, far = pair
    return (
        graph.group_spines[base + near, 0] + gateway(mesh, near, far, which),
        graph.group_spines[base + far, 0] + gateway(mesh, far, near, which),
    )


def _along(graph: Graph, ways: Walk, stops: Ints, turn: Ints) -> Paths:
    """Return the paths along vertices; of parallel links each way takes one by its turn."""
    used = stops != NONE
    way = np.nonzero(used)[0]
    vertex = stops[used]
    goes_on = way[1:] == way[:-1]
    source, target, way = vertex[:-1][goes_on], vertex[1:][goes_on], way[1:][goes_on]
    low, high = graph.between(source, target, target + 1)
    assert (high > low).all(), "every leaf is joined to every spine of its group"
    start = np.concatenate([[0], np.cumsum(used.sum(axis=1) - 1)])
    links = low + turn[way] % (high - low)
    return Paths(flow=ways.flow, share=ways.share, start=start, links=links)


def joined(some: Paths, others: Paths) -> Paths:
    """Return the paths of both, ordered by flow."""
    flow = np.concatenate([some.flow, others.flow])
    order = np.argsort(flow, kind="stable")
    starts = np.concatenate([some.start[:-1], len(some.links) + others.start[:-1]])[order]
    lengths = np.concatenate([np.diff(some.start), np.diff(others.start)])[order]
    start = np.concatenate([[0], np.cumsum(lengths)])
    place = np.arange(start[-1]) - np.repeat(start[:-1] - starts, lengths)
    return Paths(
        flow=flow[order], share=np.concatenate([some.share, others.share])[order],
        start=start, links=np.concatenate([some.links, others.links])[place],
    )  # fmt: skip


def chosen(paths: Paths, which: Ints) -> Paths:
    """Return some of the paths, in the order that is asked for."""
    lengths = np.diff(paths.start)[which]
    start = np.concatenate([[0], np.cumsum(lengths)])
    place = np.arange(start[-1]) - np.repeat(start[:-1] - paths.start[which], lengths)
    return Paths(
        flow=paths.flow[which], share=paths.share[which], start=start,
        links=paths.links[place],
    )  # fmt: skip


def without_dead(graph: Graph, paths: Paths, pool: Ints) -> Paths:
    """Leave out paths over sets of links that are all down, where the flow has others."""
    rate = np.bincount(pool, weights=graph.rate_bytes_per_s)
    alive = np.minimum.reduceat(rate[pool[paths.links]], paths.start[:-1]) > 0
    left = np.bincount(paths.flow, weights=paths.share * alive)
    kept = chosen(paths, np.flatnonzero(alive | (left[paths.flow] <= 0)))
    share = kept.share / np.bincount(kept.flow, weights=kept.share)[kept.flow]
    return replace(kept, share=share)
