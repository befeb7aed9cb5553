"""UGAL: each piece of a flow goes minimally or through another group, by load.

A packet goes minimally where q_m H_m <= q_n H_n, with the queues q and the hops H of its
minimal path and of a non-minimal one [Singh 2005; Kim 2008: UGAL-G, which knows the queues of
all links]. A link that keeps up has no queue; where both paths are full, their
queues grow until both sides are equal, whatever H is. So flows see of it::

    minimal  if  t_m <= max(t, t_n)

with the time t_m, t_n that the fullest link of a path needs for what has been placed on it, and
the time t that the NICs at both ends need for all that they send and receive. Flows are cut
into pieces that are placed in rounds: all pieces of a round know the loads of those before.
"""

import numpy as np

from weft.network.detour import Pieces, chosen, joined, pieces_of, without_dead
from weft.network.graph import Floats, Graph, Ints
from weft.network.routing import Demands, Paths, Routing, pools

_ROUNDING = 1e-9


def _route(graph: Graph, demands: Demands, seed: int) -> Paths:
    pieces = pieces_of(graph, demands, seed)
    pool = pools(graph)
    away = _goes_away(graph, demands, pieces, pool)
    stays = np.ones(len(pieces.round), bool)
    stays[pieces.detoured[away]] = False
    paths = joined(
        chosen(pieces.minimal, np.flatnonzero(stays)),
        chosen(pieces.detours, np.flatnonzero(away)),
    )
    return without_dead(graph, paths, pool)


def _goes_away(graph: Graph, demands: Demands, pieces: Pieces, pool: Ints) -> Ints:
    """Return whether each piece that has a detour takes it."""
    rate = np.bincount(pool, weights=graph.rate_bytes_per_s)
    size = demands.size_bytes
    due_s = _due_s(graph, demands)
    minimal = chosen(pieces.minimal, pieces.detoured)
    turn = pieces.round[pieces.detoured]
    inside = np.setdiff1d(np.arange(len(pieces.round)), pieces.detoured)
    placed = np.zeros(len(rate))
    _place(placed, chosen(pieces.minimal, inside), size, pool)
    away = np.zeros(len(turn), bool)
    for number in range(int(turn.max(initial=-1)) + 1):
        rows = np.flatnonzero(turn == number)
        near, far = chosen(minimal, rows), chosen(pieces.detours, rows)
        needs_s = np.where(rate > 0, placed / np.where(rate > 0, rate, 1.0), np.inf)
        near_s, far_s = (_fullest(paths, needs_s, pool) for paths in (near, far))
        goes = near_s > np.maximum(due_s[near.flow], far_s) * (1 + _ROUNDING)
        away[rows] = goes
        _place(placed, chosen(near, np.flatnonzero(~goes)), size, pool)
        _place(placed, chosen(far, np.flatnonzero(goes)), size, pool)
    return away


def _due_s(graph: Graph, demands: Demands) -> Floats:
    """Return by flow when its NICs have sent and received all that they have to."""
    line = float(graph.rate_bytes_per_s.max()) * graph.layout.planes
    ends = (demands.source, demands.target)
    sums = [np.bincount(end, weights=demands.size_bytes)[end] for end in ends]
    return np.asarray(np.maximum(*sums) / line)


def _fullest(paths: Paths, needs_s: Floats, pool: Ints) -> Floats:
    return np.asarray(np.maximum.reduceat(needs_s[pool[paths.links]], paths.start[:-1]))


def _place(placed: Floats, paths: Paths, size_bytes: Floats, pool: Ints) -> None:
    carried = np.repeat(paths.share * size_bytes[paths.flow], np.diff(paths.start))
    placed += np.bincount(pool[paths.links], weights=carried, minlength=len(placed))


ugal = Routing(
    title="UGAL, minimal or over another group by load", route=_route, has_detours=True
)
