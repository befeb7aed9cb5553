"""Send/recv: every rank sends its buffer to the next, as nccl-tests' sendrecv does."""

from collections.abc import Iterator

from weft.traffic.collective import Algorithm, Operation, Round, Send


def _rounds(operation: Operation, ranks: int, ranks_per_domain: int) -> Iterator[Round]:  # noqa: ARG001 - one message a rank
    if ranks > 1:
        yield tuple(Send(rank, (rank + 1) % ranks, (rank,)) for rank in range(ranks))


send_recv = Algorithm(
    title="Send and receive",
    operations=frozenset({Operation.SEND_RECV}),
    chunks=lambda ranks: 1,  # noqa: ARG005 - the message is not cut
    rounds=_rounds,
    by_peers=True,
)
