"""CollNet: rank i of each domain brings its rail's chunks to switches that reduce (SHARP).

The tree of switches is rank ``ranks``: it adds what all domains send and answers all of them.
"""

from collections.abc import Iterator

from weft.traffic.collective import Algorithm, Operation, Round, Send, check_full_domains
from weft.traffic.collectives.hierarchical import gather_rails, share_rails


def _rounds(operation: Operation, ranks: int, ranks_per_domain: int) -> Iterator[Round]:  # noqa: ARG001 - all-reduce alone
    check_full_domains("collnet", ranks, ranks_per_domain)
    rail = {
        r: tuple(range(r % ranks_per_domain, ranks, ranks_per_domain)) for r in range(ranks)
    }
    yield gather_rails(ranks, ranks_per_domain)
    yield tuple(Send(rank, ranks, rail[rank], reduce=True) for rank in range(ranks))
    yield tuple(Send(ranks, rank, rail[rank]) for rank in range(ranks))
    yield share_rails(ranks, ranks_per_domain)


collnet = Algorithm(
    title="CollNet (SHARP)",
    operations=frozenset({Operation.ALL_REDUCE}),
    rounds=_rounds,
    in_network=True,
)
