"""A collective operation, the ranks that run it, and the algorithms as rounds of sends."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Algorithm:
    """A named way to run some operations, as a schedule that can be checked symbolically.

    ``rounds(operation, ranks, ranks_per_domain)`` yields rounds; the buffer is cut into
    ``chunks(ranks)`` equal chunks.
    """

    title: str
    operations: frozenset[Operation]
    chunks: Callable[[int], int]
    rounds: Callable[[Operation, int, int], Iterator[Round]]
