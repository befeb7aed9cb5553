"""Aggregation trees: which switches add up what some ports send, and whom they pass it to."""

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from weft.engines.packet.wiring import Wiring
from weft.errors import Infeasible

Neighbours = Mapping[int, tuple[int, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """A tree over nodes of a network; what is no key of ``children`` is a port."""

    root: int
    children: Mapping[int, tuple[int, ...]]


def switches_of(wiring: Wiring) -> dict[int, tuple[int, ...]]:
    """Return the switches that every switch has a link to, each once."""
    found: dict[int, set[int]] = {}
    for near, far in zip(wiring.source.tolist(), wiring.target.tolist(), strict=True):
        if near >= wiring.hosts and far >= wiring.hosts:
            found.setdefault(near, set()).add(far)
    return {near: tuple(sorted(far)) for near, far in found.items()}


def tree_of(leaf_of: Mapping[int, int], neighbours: Neighbours, turn: int) -> Tree:
    """Return the flattest tree over some ports; ``turn`` picks among those that are alike.

    A switch with one child passes it on unseen, unless it is the root.

    >>> around = {8: (9, 10), 11: (9, 10), 9: (8, 11), 10: (8, 11)}
    >>> tree_of({0: 8, 1: 8, 2: 11}, around, turn=1)
    Tree(root=10, children={10: (8, 2), 8: (0, 1)})
    """
    leaves = sorted(set(leaf_of.values()))
    far = {leaf: _distances(leaf, neighbours) for leaf in leaves}
    joint = [node for node in far[leaves[0]] if all(node in row for row in far.values())]
    if not joint:
        raise Infeasible(
            "no switch reaches all ranks: the topology does not join rails; "
            "choose topology.kind rail_optimized, or ranks of one rail"
        )
    cost = {node: (max(far[leaf][node] for leaf in leaves)) for node in joint}
    roots = sorted(node for node in joint if cost[node] == min(cost.values()))
    root = roots[turn % len(roots)]
    parent = _parents(leaves, root, neighbours, turn)
    below: dict[int, list[int]] = {root: []}
    for node, above in parent.items():
        below.setdefault(above, []).append(node)
        below.setdefault(node, [])
    for port, leaf in leaf_of.items():
        below[leaf].append(port)
    return Tree(root=root, children=_without_lone(root, below))


def _distances(start: int, neighbours: Neighbours) -> dict[int, int]:
    found, queue = {start: 0}, deque([start])
    while queue:
        near = queue.popleft()
        for far in neighbours.get(near, ()):
            if far not in found:
                found[far] = found[near] + 1
                queue.append(far)
    return found


def _parents(
    leaves: Iterable[int], root: int, neighbours: Neighbours, turn: int
) -> dict[int, int]:
    """Climb from every leaf to the root along shortest paths that meet as they can."""
    away = _distances(root, neighbours)
    parent: dict[int, int] = {}
    for leaf in leaves:
        node = leaf
        while node != root and node not in parent:
            up = [
                number for number in neighbours[node] if away.get(number, -1) == away[node] - 1
            ]
            parent[node] = up[turn % len(up)]
            node = parent[node]
    return parent


def _without_lone(root: int, below: Mapping[int, list[int]]) -> dict[int, tuple[int, ...]]:
    def shown(node: int) -> int:
        while len(below.get(node, ())) == 1:
            node = below[node][0]
        return node

    found: dict[int, tuple[int, ...]] = {}
    todo = deque([root])
    while todo:
        node = todo.popleft()
        found[node] = tuple(shown(child) for child in below[node])
        todo.extend(child for child in found[node] if child in below)
    return found
