"""What a routing is: flows between NIC ports in, paths with shares out."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from weft.errors import Infeasible
from weft.network.graph import HOST_LEAF, LEAF_SPINE, Floats, Graph, Ints, gateway
from weft.network.topology import Mesh

CORE = 2
"""Tier of the cores."""

LONGEST = 6
"""Links of the longest up-down path: three up, three down."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Demands:
    """Bytes from NIC port to NIC port, by flow."""

    source: Ints
    target: Ints
    size_bytes: Floats
    plane: Ints | None = None
    """Plane that a flow keeps to; none: the routing chooses."""
    entropy: Ints | None = None
    """What else a hash sees of a flow: its queue pair's UDP source port; none: nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Paths:
    """Paths as flat arrays: path p takes links[start[p]:start[p + 1]]."""

    flow: Ints
    """By path: the flow it belongs to."""
    share: Floats
    """By path: its part of the flow; the shares of a flow sum to 1."""
    start: Ints
    links: Ints


Choose = Callable[["Hop"], Ints]
"""Which link of its range each path takes at a hop: any number, taken modulo the width."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hop:
    """Paths that stand at a vertex and must choose among equally short links."""

    number: int
    """0 at the NIC, then 1, 2, ..."""
    path: Ints
    at: Ints
    target: Ints
    """The NIC port that each wants to reach."""
    low: Ints
    high: Ints
    """Links low..high-1 are equally good."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Routing:
    """A named way to spread flows over the paths of a graph."""

    title: str
    route: Callable[[Graph, Demands, int], Paths]
    """(graph, demands, seed) -> paths; a routing without chance ignores the seed."""
    has_detours: bool = False
    """Whether paths lead through groups that hold neither end, not up and down alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Walk:
    """The paths to find: one a row, each in one plane."""

    flow: Ints
    source: Ints
    target: Ints
    plane: Ints
    share: Floats


def split(demands: Demands, ways: int, plane: Ints) -> Walk:
    """Cut every flow into equal ways; ``plane`` is by way of every flow."""
    flows = len(demands.source)
    flow = np.repeat(np.arange(flows), ways)
    return Walk(
        flow=flow, source=demands.source[flow], target=demands.target[flow], plane=plane,
        share=np.full(flows * ways, 1 / ways),
    )  # fmt: skip


def walk(graph: Graph, ways: Walk, choose: Choose, gate: Ints | None = None) -> Paths:
    """Follow up-down paths to the targets, choosing among equal links at every hop.

    ``gate`` says which link between groups a path of a dragonfly+ takes (modulo their
    number); without it the first.
    """
    _check_joined(graph, ways)
    taken = np.full((len(ways.flow), LONGEST), -1, dtype=np.int64)
    at = ways.source.copy()
    gates = np.zeros_like(at) if gate is None else gate
    for number in range(LONGEST):
        path = np.flatnonzero(at != ways.target)
        if not len(path):
            break
        low, high = _ranges(graph, at[path], ways, path, gates[path])
        assert (high > low).all(), "every vertex has a link towards every target it serves"
        hop = Hop(
            number=number, path=path, at=at[path], target=ways.target[path], low=low, high=high
        )
        taken[path, number] = low + choose(hop) % (high - low)
        at[path] = graph.target[taken[path, number]]
    used = taken >= 0
    start = np.concatenate([[0], np.cumsum(used.sum(axis=1))])
    return Paths(flow=ways.flow, share=ways.share, start=start, links=taken[used])


def _check_joined(graph: Graph, ways: Walk) -> None:
    here = graph.network[graph.leaf_of[ways.source, ways.plane]]
    there = graph.network[graph.leaf_of[ways.target, ways.plane]]
    if (here != there).any():
        flow = int(ways.flow[np.flatnonzero(here != there)[0]])
        raise Infeasible(
            f"flow {flow} goes from one rail to another, which {graph.layout.kind} does not "
            f"join; send it over the scale-up network to a GPU of the other rail first"
        )


def _ranges(graph: Graph, at: Ints, ways: Walk, path: Ints, gates: Ints) -> tuple[Ints, Ints]:
    """Return the range of links that lead each path on: down where possible, else up."""
    target, plane = ways.target[path], ways.plane[path]
    leaf = graph.leaf_of[target, plane]
    spines = graph.group_spines[graph.group[leaf]]
    tier = graph.tier(at)
    first, stop = np.empty_like(at), np.empty_like(at)
    cases = (
        (tier == -1, graph.leaf_of[ways.source[path], plane], None),
        (at == leaf, target, None),
        ((tier == 0) & (at != leaf), *_up_from_leaf(graph, at, leaf, gates)),
        ((tier == 1) & (graph.group[at] == graph.group[leaf]), leaf, None),
        ((tier == 1) & (graph.group[at] != graph.group[leaf]), *_up_from_spine(graph, spines)),
        (tier == CORE, spines[:, 0], spines[:, 1]),
    )
    for mask, begin, end in cases:
        first[mask] = begin[mask]
        stop[mask] = begin[mask] + 1 if end is None else end[mask]
    return graph.between(at, first, stop)


def _up_from_leaf(graph: Graph, at: Ints, leaf: Ints, gates: Ints) -> tuple[Ints, Ints]:
    """Return the spines that a leaf may send to: all of its group, or the gateway's."""
    here = graph.group[np.where(graph.tier(at) == 0, at, leaf)]
    own = graph.group_spines[here]
    mesh = graph.layout.wiring
    if not isinstance(mesh, Mesh):
        return own[:, 0], own[:, 1]
    there = graph.group[leaf]
    base = here // mesh.groups * mesh.groups
    which = gates % mesh.links_per_pair
    spine = own[:, 0] + gateway(mesh, here - base, there - base, which)
    away = here != there
    return np.where(away, spine, own[:, 0]), np.where(away, spine + 1, own[:, 1])


def _up_from_spine(graph: Graph, spines: Ints) -> tuple[Ints, Ints]:
    """Return the cores, or in a dragonfly+ the spines of the target's group."""
    if isinstance(graph.layout.wiring, Mesh):
        return spines[:, 0], spines[:, 1]
    count = len(spines)
    return np.full(count, graph.first[2]), np.full(count, graph.first[3])


def pools(graph: Graph) -> Ints:
    """Return by link the number of the set of links that balancing loads evenly."""
    mesh = isinstance(graph.layout.wiring, Mesh)
    up = graph.target > graph.source
    lower = np.where(up, graph.source, graph.target)
    # One set a link at hosts; one a leaf; one a group, or one a pair of groups of a dragonfly+.
    group = graph.group[lower]
    if mesh:
        group = graph.group[graph.source] * graph.vertices + graph.group[graph.target]
    member = np.where(graph.layer == LEAF_SPINE, lower, group)
    member = np.where(graph.layer == HOST_LEAF, np.arange(graph.links), member)
    keys = ((member * 2 + up) * 3 + graph.layer) * graph.layout.planes + graph.plane
    return np.asarray(np.unique(keys, return_inverse=True)[1], np.int64).ravel()


def mixed(*numbers: Ints | int) -> Ints:
    """Mix numbers into one well spread hash, the same on every machine [splitmix64]."""
    state: npt.NDArray[np.uint64] = np.asarray(_GOLDEN)
    with np.errstate(over="ignore"):
        for number in numbers:
            state = state ^ (np.asarray(number, dtype=np.int64).astype(np.uint64) + _GOLDEN)
            state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            state = state ^ (state >> np.uint64(31))
    return np.asarray(state >> np.uint64(1)).astype(np.int64)


_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
