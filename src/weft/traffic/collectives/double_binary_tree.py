"""Double binary tree: two trees, each with half of the buffer.

Inner ranks of one tree are leaves of the other [Sanders, Speck & Traff 2009]; the shapes are
those of NCCL's trees.cc.
"""

from collections.abc import Iterator

from weft.traffic.collective import PIECE_BYTES, Algorithm, Operation, Round, domains
from weft.traffic.collectives.tree import down, parents_by_rank, together, up


def first_parent(node: int, nodes: int) -> int | None:
    """Return the parent in the tree whose leaves are the odd nodes."""
    if node == 0:
        return None
    bit = node & -node
    above = (node ^ bit) | (bit << 1)
    return node ^ bit if above >= nodes else above


def second_parent(node: int, nodes: int) -> int | None:
    """Return the parent in the other tree: the first mirrored, or shifted by one if odd."""
    if nodes % 2:
        above = first_parent((node - 1) % nodes, nodes)
        return None if above is None else (above + 1) % nodes
    above = first_parent(nodes - 1 - node, nodes)
    return None if above is None else nodes - 1 - above


def trees(ranks: int, ranks_per_domain: int) -> tuple[dict[int, int], dict[int, int]]:
    """Return the parents of every rank in both trees.

    The second tree enters a domain at its last rank, so that chains of the two trees load
    a domain's ranks evenly.
    """
    chains = [list(domain) for domain in domains(ranks, ranks_per_domain)]
    turned = [chain[::-1] for chain in chains]
    return parents_by_rank(chains, first_parent), parents_by_rank(turned, second_parent)


def _rounds(operation: Operation, ranks: int, ranks_per_domain: int) -> Iterator[Round]:
    both = trees(ranks, ranks_per_domain)
    if operation in {Operation.ALL_REDUCE, Operation.REDUCE}:
        yield from together(*(up(parents, (half,)) for half, parents in enumerate(both)))
    if operation in {Operation.ALL_REDUCE, Operation.BROADCAST}:
        yield from together(*(down(parents, (half,)) for half, parents in enumerate(both)))


double_binary_tree = Algorithm(
    title="Double binary tree",
    operations=frozenset({Operation.ALL_REDUCE}),
    chunks=lambda ranks: 2,  # noqa: ARG005 - half of the buffer a tree
    rounds=_rounds,
    piece_bytes=PIECE_BYTES,
)
