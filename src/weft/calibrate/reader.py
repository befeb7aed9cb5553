"""What a benchmark measured, whichever wrote it, and the reader that knows its text."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from weft.traffic.collective import Operation


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectiveReading:
    """One size of a sweep of nccl-tests."""

    operation: Operation
    ranks: int
    hosts: int
    size_bytes: float
    time_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageReading:
    """One size of perftest; a latency or a bandwidth."""

    verb: Literal["write", "send", "read"]
    size_bytes: float
    queue_pairs: int = 1
    depth: int | None = None
    ways: int = 1
    time_s: float | None = None
    bytes_per_s: float | None = None


Reading = CollectiveReading | MessageReading


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """Reads the output of one benchmark."""

    title: str
    claims: Callable[[str], bool]
    """Whether a text is of this benchmark."""
    read: Callable[[str, str], Iterable[Reading]]
    """Text and file name in, readings out."""
