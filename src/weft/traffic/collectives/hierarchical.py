"""Hierarchical: inside the scale-up domain first, then along each rail, then inside again.

Rank i of a domain handles the chunks c with c mod ranks_per_domain = i, so each NIC carries
its own rail only; for all-to-all this is NCCL's PXN.
"""

from collections.abc import Callable, Iterable, Iterator

from weft.traffic.collective import (
    Algorithm,
    Operation,
    Round,
    Send,
    check_full_domains,
    domains,
)


def _to_peers(
    ranks: int, per_domain: int, chunks: Callable[[int, int], Iterable[int]], *, reduce: bool
) -> Round:
    """Let every rank send ``chunks(rank, peer)`` to each peer of its domain."""
    return tuple(
        Send(rank, peer, tuple(chunks(rank, peer)), reduce)
        for domain in domains(ranks, per_domain)
        for rank in domain
        for peer in domain
        if peer != rank
    )


def gather_rails(ranks: int, per_domain: int) -> Round:
    """Reduce-scatter inside domains: rank i gets the chunks of its rail from its peers."""
    rails = [range(rail, ranks, per_domain) for rail in range(per_domain)]
    return _to_peers(ranks, per_domain, lambda _, peer: rails[peer % per_domain], reduce=True)


def share_rails(ranks: int, per_domain: int) -> Round:
    """All-gather inside domains: rank i gives the chunks of its rail to its peers."""
    rails = [range(rail, ranks, per_domain) for rail in range(per_domain)]
    return _to_peers(ranks, per_domain, lambda rank, _: rails[rank % per_domain], reduce=False)


def _along_rails(ranks: int, per_domain: int, behind: int, *, reduce: bool) -> Iterator[Round]:
    """Run a ring over the domains on every rail at once."""
    for turn in range(ranks // per_domain - 1):
        back = (behind + turn) * per_domain
        yield tuple(
            Send(rank, (rank + per_domain) % ranks, ((rank - back) % ranks,), reduce)
            for rank in range(ranks)
        )


def _rounds(operation: Operation, ranks: int, ranks_per_domain: int) -> Iterator[Round]:
    check_full_domains("hierarchical", ranks, ranks_per_domain)
    if operation is Operation.ALL_TO_ALL:
        yield _to_rails(ranks, ranks_per_domain)
        yield _over_rails(ranks, ranks_per_domain)
        return
    if operation is not Operation.ALL_GATHER:
        yield gather_rails(ranks, ranks_per_domain)
        yield from _along_rails(ranks, ranks_per_domain, 1, reduce=True)
    if operation is not Operation.REDUCE_SCATTER:
        yield from _along_rails(ranks, ranks_per_domain, 0, reduce=False)
        yield share_rails(ranks, ranks_per_domain)


def _to_rails(ranks: int, per_domain: int) -> Round:
    """Give each peer all that goes to ranks of its rail, in whatever domain."""

    def of_rail(rank: int, peer: int) -> Iterator[int]:
        return (rank * ranks + t for t in range(peer % per_domain, ranks, per_domain))

    return _to_peers(ranks, per_domain, of_rail, reduce=False)


def _over_rails(ranks: int, per_domain: int) -> Round:
    """Send what the whole domain has for each rank of one's own rail."""
    return tuple(
        Send(rank, other, tuple(s * ranks + other for s in domain))
        for domain in domains(ranks, per_domain)
        for rank in domain
        for other in range(rank % per_domain, ranks, per_domain)
        if other != rank
    )


hierarchical = Algorithm(
    title="Hierarchical",
    operations=frozenset(
        {
            Operation.ALL_REDUCE, Operation.ALL_GATHER, Operation.REDUCE_SCATTER,
            Operation.ALL_TO_ALL,
        }
    ),
    rounds=_rounds,
)  # fmt: skip
