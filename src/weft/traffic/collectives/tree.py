"""Tree: one binary tree over the domains, and a chain inside each of them.

NCCL's shape: only the first rank of a domain (its head) talks to other domains.
"""

from collections.abc import Callable, Iterator
from itertools import zip_longest

from weft.traffic.collective import PIECE_BYTES, Algorithm, Operation, Round, Send, domains

Parent = Callable[[int, int], int | None]
"""(node, nodes) -> its parent in a tree; none at the root."""


def heap_parent(node: int, nodes: int) -> int | None:  # noqa: ARG001 - a Parent
    """Return the parent in the binary tree that fills levels from the left."""
    return None if node == 0 else (node - 1) // 2


def parents_by_rank(chains: list[list[int]], parent: Parent) -> dict[int, int]:
    """Return the parent of every rank but the root: its chain's next, or a tree's head."""
    found: dict[int, int] = {}
    for node, chain in enumerate(chains):
        found.update(zip(chain[1:], chain[:-1], strict=True))
        above = parent(node, len(chains))
        if above is not None:
            found[chain[0]] = chains[above][0]
    return found


def levels(parents: dict[int, int]) -> list[list[int]]:
    """Return ranks by depth below the root, the deepest first."""
    by_depth: dict[int, list[int]] = {}
    for rank in parents:
        depth, at = 0, rank
        while at in parents:
            depth, at = depth + 1, parents[at]
        by_depth.setdefault(depth, []).append(rank)
    return [by_depth[depth] for depth in sorted(by_depth, reverse=True)]


def up(parents: dict[int, int], chunks: tuple[int, ...]) -> Iterator[Round]:
    """Reduce towards the root, the deepest ranks first."""
    for level in levels(parents):
        yield tuple(Send(rank, parents[rank], chunks, reduce=True) for rank in level)


def down(parents: dict[int, int], chunks: tuple[int, ...]) -> Iterator[Round]:
    """Broadcast from the root, level by level."""
    for level in reversed(levels(parents)):
        yield tuple(Send(parents[rank], rank, chunks) for rank in level)


def together(*parts: Iterator[Round]) -> Iterator[Round]:
    """Run several schedules side by side, round by round."""
    for sends in zip_longest(*parts, fillvalue=()):
        yield tuple(send for part in sends for send in part)


def _parents(ranks: int, ranks_per_domain: int) -> dict[int, int]:
    chains = [list(domain) for domain in domains(ranks, ranks_per_domain)]
    return parents_by_rank(chains, heap_parent)


def _rounds(operation: Operation, ranks: int, ranks_per_domain: int) -> Iterator[Round]:
    parents = _parents(ranks, ranks_per_domain)
    if operation in {Operation.ALL_REDUCE, Operation.REDUCE}:
        yield from up(parents, (0,))
    if operation in {Operation.ALL_REDUCE, Operation.BROADCAST}:
        yield from down(parents, (0,))


tree = Algorithm(
    title="Binary tree",
    operations=frozenset({Operation.ALL_REDUCE, Operation.BROADCAST, Operation.REDUCE}),
    chunks=lambda ranks: 1,  # noqa: ARG005 - the tree carries the whole buffer
    rounds=_rounds,
    piece_bytes=PIECE_BYTES,
)
