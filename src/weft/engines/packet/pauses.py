"""What pauses did: which lane stopped which, where it began, and who suffered.

A lane is a link in a traffic class: row ``link + class * links``; with one class, the link.
Every record says that the queue of one lane (the cause) made a switch pause another: the queue
that held the packet which let it resume, or if it has not, the packet that was too much. While
the cause was paused itself, it only passed on what was done to it; the rest is its own.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from weft.engines.packet.simulation import Flows, Outcome
from weft.engines.packet.wiring import Wiring

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class PauseTree:
    """Lanes and how long they were paused by which others; times in picoseconds."""

    paused_ps: Ints
    """By lane: how long its sender was stopped."""
    edges: dict[tuple[int, int], int]
    """(cause, paused lane) -> time."""
    own_ps: dict[int, int]
    """Cause -> time for which it paused others while nothing paused it."""

    @property
    def roots(self) -> tuple[int, ...]:
        """Return the lanes that pauses came from, the worst first."""
        return tuple(sorted(self.own_ps, key=lambda link: (-self.own_ps[link], link)))


def pause_tree(outcome: Outcome) -> PauseTree:
    """Read the tree of pauses from the records of a run."""
    edges: dict[tuple[int, int], int] = {}
    own: dict[int, int] = {}
    spans = _spans(outcome)
    for link, cause, begin, end in _records(outcome):
        edges[cause, link] = edges.get((cause, link), 0) + end - begin
        alone = end - begin - _overlap(spans.get(cause, []), begin, end)
        if alone > 0:
            own[cause] = own.get(cause, 0) + alone
    links = outcome.links
    open_ps = np.where(links.paused != 0, outcome.now_ps - links.paused_since, 0)
    return PauseTree(paused_ps=links.paused_total + open_ps, edges=edges, own_ps=own)


def victims(tree: PauseTree, wiring: Wiring, flows: Flows) -> Ints:
    """Return the flows whose host was paused in their class though they go elsewhere.

    Only roots that lead to a host tell where a flow is going; other roots have no victims here.
    """
    links = len(wiring.source)
    lanes = np.flatnonzero(tree.paused_ps > 0)
    stopped = wiring.source[lanes % links] + wiring.nodes * (lanes // links)
    ends = np.array([wiring.target[lane % links] for lane in tree.roots[:1]], np.int64)
    at_host = ends[ends < wiring.hosts]
    if not len(at_host):
        return np.zeros(0, np.int64)
    traffic_class = 0 if flows.traffic_class is None else flows.traffic_class
    held = np.isin(flows.source + wiring.nodes * traffic_class, stopped)
    return np.flatnonzero(held & ~np.isin(flows.target, at_host))


def _records(outcome: Outcome) -> list[tuple[int, int, int, int]]:
    rows = outcome.pauses
    end = np.where(rows.end < 0, outcome.now_ps, rows.end)
    columns = (rows.link, rows.cause, rows.begin, end)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def _spans(outcome: Outcome) -> dict[int, list[tuple[int, int]]]:
    """Collect by link when it was paused; in order of time, never overlapping."""
    spans: dict[int, list[tuple[int, int]]] = {}
    for link, _, begin, end in _records(outcome):
        spans.setdefault(link, []).append((begin, end))
    return spans


def _overlap(spans: list[tuple[int, int]], begin: int, end: int) -> int:
    place = np.searchsorted([span[1] for span in spans], begin) if spans else 0
    total = 0
    for first, last in spans[int(place) :]:
        if first >= end:
            break
        total += min(last, end) - max(first, begin)
    return total
