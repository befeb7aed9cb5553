"""A collective operation, the ranks that run it, and the algorithms as rounds of sends."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from weft.errors import Infeasible


class Operation(StrEnum):
    """The operations of NCCL, named as in nccl-tests."""

    ALL_REDUCE = "all_reduce"
    ALL_GATHER = "all_gather"
    REDUCE_SCATTER = "reduce_scatter"
    BROADCAST = "broadcast"
    REDUCE = "reduce"
    ALL_TO_ALL = "alltoall"
    SEND_RECV = "sendrecv"

    def bus_factor(self, ranks: int) -> float:
        """Return busbw / algbw, as in nccl-tests doc/PERFORMANCE.md.

        >>> Operation.ALL_REDUCE.bus_factor(8)
        1.75
        """
        once = (ranks - 1) / ranks
        return {
            Operation.ALL_REDUCE: 2 * once,
            Operation.ALL_GATHER: once,
            Operation.REDUCE_SCATTER: once,
            Operation.ALL_TO_ALL: once,
        }.get(self, 1.0)


_SPELLINGS: Final = {
    "reducescatter": Operation.REDUCE_SCATTER, "allreduce": Operation.ALL_REDUCE,
    "allgather": Operation.ALL_GATHER, "alltoall": Operation.ALL_TO_ALL,
    "sendreceive": Operation.SEND_RECV, "sendrecv": Operation.SEND_RECV,
    "broadcast": Operation.BROADCAST, "bcast": Operation.BROADCAST,
    "reduce": Operation.REDUCE,
}  # fmt: skip
"""As benchmarks write them, without what stands between the words; the longest first."""


def operation_in(text: str) -> Operation | None:
    """Return the operation that a command line, the name of a file or a benchmark names.

    >>> operation_in("./build/reduce_scatter_perf -b 8"), operation_in("AllReduce")
    (<Operation.REDUCE_SCATTER: 'reduce_scatter'>, <Operation.ALL_REDUCE: 'all_reduce'>)
    """
    plain = "".join(item for item in text.lower() if item not in "_- ")
    return next((kind for name, kind in _SPELLINGS.items() if name in plain), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Ranks that run one collective, by where they sit.

    ``ranks_per_domain`` of them share a scale-up domain (a host, or an NVL72 rack), and
    ``neighbours`` such groups run the same collective at the same moment on the same
    domains, so they share the NICs: eight data-parallel groups beside tensor parallelism of
    eight have ranks_per_domain=1 and neighbours=8.
    """

    ranks: int
    ranks_per_domain: int
    neighbours: int = 1
    stride: int = 1
    """From one of its domains to the next: stages of a pipeline lie far apart."""

    @property
    def domains(self) -> int:
        """Scale-up domains that the group spans."""
        return -(-self.ranks // self.ranks_per_domain)


@dataclass(frozen=True, slots=True)
class Send:
    """One message of a round: ``chunks`` of the buffer go from a rank to another.

    With ``reduce`` the receiver adds them to its own, otherwise it overwrites.
    """

    source: int
    target: int
    chunks: tuple[int, ...]
    reduce: bool = False


Round = tuple[Send, ...]

PIECE_BYTES: Final = 1 << 19
"""A slot of NCCL's buffer: NCCL_BUFFSIZE of 4 MiB by default, in eight steps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Algorithm:
    """A named way to run some operations, as a schedule that can be checked symbolically.

    ``rounds(operation, ranks, ranks_per_domain)`` yields rounds; the sends of one round
    happen at once, on what the ranks held before it. The buffer is cut into
    ``chunks(ranks)`` equal chunks. In all-gather and reduce-scatter chunk r is rank r's; in
    all-to-all chunk s * ranks + t goes from rank s to rank t; in send/recv chunk r is what
    rank r sends. Roots are rank 0. A switch that reduces is a rank from ``ranks`` on.
    """

    title: str
    operations: frozenset[Operation]
    chunks: Callable[[int], int] = lambda ranks: ranks
    rounds: Callable[[Operation, int, int], Iterator[Round]]
    in_network: bool = False
    """Whether switches reduce (NVLink SHARP or SHARP)."""
    by_peers: bool = False
    """Whether ranks send straight to one another, as by ncclSend, which PXN may carry."""
    piece_bytes: int | None = None
    """Chunks pass a rank in pieces of this size, each sent on as it comes; none: whole."""

    def schedule(
        self, operation: Operation, ranks: int, ranks_per_domain: int
    ) -> Iterator[Round]:
        """Yield the rounds in which something is sent; refuse an operation not its own."""
        if operation not in self.operations:
            own = ", ".join(sorted(self.operations))
            raise Infeasible(f"{self.title} does not run {operation}; use it for {own}")
        return filter(None, self.rounds(operation, ranks, ranks_per_domain))


def domains(ranks: int, ranks_per_domain: int) -> list[range]:
    """Return the ranks of every scale-up domain; the last may be smaller.

    >>> domains(5, 2)
    [range(0, 2), range(2, 4), range(4, 5)]
    """
    firsts = range(0, ranks, ranks_per_domain)
    return [range(first, min(first + ranks_per_domain, ranks)) for first in firsts]


def check_full_domains(title: str, ranks: int, ranks_per_domain: int) -> None:
    """Raise Infeasible when the last domain is smaller than the others."""
    if ranks % ranks_per_domain:
        raise Infeasible(
            f"{title} needs domains of equal size, and {ranks} ranks are no multiple of "
            f"{ranks_per_domain}; use ring or tree, or a multiple of {ranks_per_domain} ranks"
        )
