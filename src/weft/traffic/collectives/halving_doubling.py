"""Recursive halving and doubling: log2 rounds of pairs [Thakur, Rabenseifner & Gropp 2005].

Ranks beyond the largest power of two fold into a partner first and get the result last.
"""

from collections.abc import Iterator

from weft.errors import Infeasible
from weft.traffic.collective import Algorithm, Operation, Round, Send


def _power(ranks: int) -> int:
    """Return the largest power of two that is not above."""
    return 1 << (ranks.bit_length() - 1)


def _rounds(operation: Operation, ranks: int, ranks_per_domain: int) -> Iterator[Round]:  # noqa: ARG001 - pairs whatever the domains
    core = _power(ranks)
    if core != ranks and operation is not Operation.ALL_REDUCE:
        raise Infeasible(
            f"halving_doubling runs {operation} on a power of two of ranks, not on {ranks}; "
            f"use ring or pat"
        )
    every = tuple(range(core))
    if core != ranks:
        yield tuple(Send(r, r - core, every, reduce=True) for r in range(core, ranks))
    if operation is not Operation.ALL_GATHER:
        yield from _halve(core)
    if operation is not Operation.REDUCE_SCATTER:
        yield from _double(core)
    if core != ranks:
        yield tuple(Send(r - core, r, every) for r in range(core, ranks))


def _masks(core: int) -> list[int]:
    return [1 << bit for bit in reversed(range(core.bit_length() - 1))]


def _halve(core: int) -> Iterator[Round]:
    """Exchange halves with a partner; keep the half that holds one's own chunk."""
    kept = {rank: list(range(core)) for rank in range(core)}
    for mask in _masks(core):
        yield tuple(
            Send(rank, rank ^ mask, tuple(c for c in kept[rank] if (c ^ rank) & mask), True)  # noqa: FBT003 - reduce
            for rank in range(core)
        )
        kept = {rank: [c for c in kept[rank] if not (c ^ rank) & mask] for rank in kept}


def _double(core: int) -> Iterator[Round]:
    """Send all that one has to a partner, the nearest first."""
    for mask in reversed(_masks(core)):
        yield tuple(
            Send(rank, rank ^ mask, tuple(rank ^ other for other in range(mask)))
            for rank in range(core)
        )


halving_doubling = Algorithm(
    title="Recursive halving and doubling",
    operations=frozenset(
        {Operation.ALL_REDUCE, Operation.ALL_GATHER, Operation.REDUCE_SCATTER}
    ),
    chunks=_power,
    rounds=_rounds,
)
