"""Pairwise all-to-all: in round k every rank sends to the one k further."""

from collections.abc import Iterator

from weft.traffic.collective import Algorithm, Operation, Round, Send


def _rounds(operation: Operation, ranks: int, ranks_per_domain: int) -> Iterator[Round]:  # noqa: ARG001 - pairs whatever the domains
    for step in range(1, ranks):
        yield tuple(
            Send(rank, other, (rank * ranks + other,))
            for rank in range(ranks)
            for other in ((rank + step) % ranks,)
        )


pairwise = Algorithm(
    title="Pairwise",
    operations=frozenset({Operation.ALL_TO_ALL}),
    rounds=_rounds,
    by_peers=True,
)
