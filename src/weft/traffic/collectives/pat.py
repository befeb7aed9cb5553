"""PAT, parallel aggregated trees: one binomial tree a rank, all in log2 rounds, far first.

[Jeaugey 2025, arXiv 2506.20252; NCCL 2.23]
"""

from collections.abc import Iterator

from weft.traffic.collective import Algorithm, Operation, Round, Send


def _rounds(operation: Operation, ranks: int, ranks_per_domain: int) -> Iterator[Round]:  # noqa: ARG001 - one rank a domain in NCCL
    distances = [1 << bit for bit in reversed(range((ranks - 1).bit_length()))]
    if operation is Operation.REDUCE_SCATTER:
        distances.reverse()
    for distance in distances:
        yield _hop(operation, ranks, distance)


def _hop(operation: Operation, ranks: int, distance: int) -> Round:
    """Return the round at one distance: chunk c has reached the ranks c + 2 i distance."""
    sends = []
    for rank in range(ranks):
        offsets = range(0, ranks - distance, 2 * distance)
        if operation is Operation.ALL_GATHER:
            chunks = tuple((rank - offset) % ranks for offset in offsets)
            sends.append(Send(rank, (rank + distance) % ranks, chunks))
        else:
            chunks = tuple((rank - distance - offset) % ranks for offset in offsets)
            sends.append(Send(rank, (rank - distance) % ranks, chunks, reduce=True))
    return tuple(sends)


pat = Algorithm(
    title="PAT",
    operations=frozenset({Operation.ALL_GATHER, Operation.REDUCE_SCATTER}),
    rounds=_rounds,
)
