"""NVLS: the NVLink switch reduces and multicasts, inside one scale-up domain.

Every rank lets the switch read all of its buffer and stores its own share through it, so it
sends (n + 1) / n of the buffer for an all-reduce. The switch is rank n.
"""

from collections.abc import Iterator, Sequence

from weft.errors import Infeasible
from weft.traffic.collective import Algorithm, Operation, Round, Send


def load_reduce(
    members: range, switch: int, chunks: Sequence[tuple[int, ...]]
) -> Iterator[Round]:
    """Reduce in the switch; the i-th member gets ``chunks[i]``."""
    every = tuple(c for mine in chunks for c in mine)
    yield tuple(Send(rank, switch, every, reduce=True) for rank in members)
    yield tuple(Send(switch, rank, mine) for rank, mine in zip(members, chunks, strict=True))


def multicast(
    members: range, switch: int, chunks: Sequence[tuple[int, ...]]
) -> Iterator[Round]:
    """Store ``chunks[i]`` of the i-th member into all members through the switch."""
    owners = list(zip(members, chunks, strict=True))
    yield tuple(Send(rank, switch, mine) for rank, mine in owners)
    yield tuple(
        Send(switch, rank, tuple(c for other, mine in owners if other != rank for c in mine))
        for rank in members
        if len(members) > 1
    )


def _rounds(operation: Operation, ranks: int, ranks_per_domain: int) -> Iterator[Round]:
    if ranks > ranks_per_domain:
        raise Infeasible(
            f"nvls runs inside one scale-up domain, and {ranks} ranks span domains of "
            f"{ranks_per_domain}; use nvls_tree or collnet"
        )
    mine = [(rank,) for rank in range(ranks)]
    if operation is not Operation.ALL_GATHER:
        yield from load_reduce(range(ranks), ranks, mine)
    if operation is not Operation.REDUCE_SCATTER:
        yield from multicast(range(ranks), ranks, mine)


nvls = Algorithm(
    title="NVLS",
    operations=frozenset(
        {Operation.ALL_REDUCE, Operation.ALL_GATHER, Operation.REDUCE_SCATTER}
    ),
    rounds=_rounds,
    in_network=True,
)
