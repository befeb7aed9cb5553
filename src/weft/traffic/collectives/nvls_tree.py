"""NVLS tree: the NVLink switch reduces inside domains, binary trees join them, rail by rail.

The switch of domain d is rank ``ranks`` + d.
"""

from collections.abc import Iterator

from weft.traffic.collective import (
    Algorithm,
    Operation,
    Round,
    check_full_domains,
    domains,
)
from weft.traffic.collectives.double_binary_tree import first_parent, second_parent
from weft.traffic.collectives.nvls import load_reduce, multicast
from weft.traffic.collectives.tree import down, parents_by_rank, together, up


def _rounds(operation: Operation, ranks: int, ranks_per_domain: int) -> Iterator[Round]:  # noqa: ARG001 - all-reduce alone
    check_full_domains("nvls_tree", ranks, ranks_per_domain)
    groups = list(enumerate(domains(ranks, ranks_per_domain)))
    rails = [tuple(range(i, ranks, ranks_per_domain)) for i in range(ranks_per_domain)]
    yield from together(*(load_reduce(members, ranks + d, rails) for d, members in groups))
    yield from together(*(up(_tree(rail), rail) for rail in rails))
    yield from together(*(down(_tree(rail), rail) for rail in rails))
    yield from together(*(multicast(members, ranks + d, rails) for d, members in groups))


def _tree(rail: tuple[int, ...]) -> dict[int, int]:
    """Return one tree over a rail; even and odd rails take the two trees in turn."""
    parent = second_parent if rail[0] % 2 else first_parent
    return parents_by_rank([[rank] for rank in rail], parent)


nvls_tree = Algorithm(
    title="NVLS tree",
    operations=frozenset({Operation.ALL_REDUCE}),
    rounds=_rounds,
    in_network=True,
)
