"""Ring: every rank sends to the next only [Patarasuk & Yuan 2009]."""

from collections.abc import Iterator

from weft.traffic.collective import Algorithm, Operation, Round, Send


def _rounds(operation: Operation, ranks: int, ranks_per_domain: int) -> Iterator[Round]:  # noqa: ARG001 - rings run in rank order whatever the domains
    if operation in {Operation.ALL_REDUCE, Operation.REDUCE_SCATTER}:
        yield from _turns(ranks, 1, reduce=True)
    if operation in {Operation.ALL_REDUCE, Operation.ALL_GATHER}:
        yield from _turns(ranks, 0, reduce=False)
    if operation is Operation.BROADCAST:
        yield from _chain(list(range(ranks)), ranks, reduce=False)
    if operation is Operation.REDUCE:
        yield from _chain([*range(1, ranks), 0], ranks, reduce=True)


def _turns(ranks: int, behind: int, *, reduce: bool) -> Iterator[Round]:
    """Rank r sends chunk r - behind - t in turn t, so each chunk goes once round."""
    for turn in range(ranks - 1):
        yield tuple(
            Send(rank, (rank + 1) % ranks, ((rank - behind - turn) % ranks,), reduce)
            for rank in range(ranks)
        )


def _chain(order: list[int], chunks: int, *, reduce: bool) -> Iterator[Round]:
    """Pass chunks one after another along a chain of ranks."""
    for turn in range(chunks + len(order) - 2):
        yield tuple(
            Send(order[place], order[place + 1], (turn - place,), reduce)
            for place in range(len(order) - 1)
            if 0 <= turn - place < chunks
        )


ring = Algorithm(
    title="Ring",
    operations=frozenset(
        {
            Operation.ALL_REDUCE, Operation.ALL_GATHER, Operation.REDUCE_SCATTER,
            Operation.BROADCAST, Operation.REDUCE,
        }
    ),
    rounds=_rounds,
)  # fmt: skip
