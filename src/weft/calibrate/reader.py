"""What benchmarks measured on a cluster: collectives by operation, and messages."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from weft.errors import SpecError
from weft.inventory.inventory import Inventory
from weft.inventory.values import whole
from weft.readers.benchmarks import Measured, measured
from weft.traffic.collective import Operation, operation_in

_TOLERANCE: Final = 0.03
_TRUSTED_BUSBW: Final = 1e9
"""Below, the two decimals that nccl-tests prints say nothing about the factor."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectiveReading:
    """One size of a sweep of a collective."""

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


def readings(seen: Inventory, file: str) -> list[Reading]:
    """Return what the benchmark of one file measured.

    Raises SpecError where ranks, hosts or the operation are not known.
    """
    rows = [item for item in measured(seen) if item.size_bytes > 0]
    collectives = [row for row in rows if row.what == "collective"]
    if collectives:
        return list(_collectives(seen, collectives, file))
    return [_message(row) for row in rows if _verb(row) is not None]


def _collectives(seen: Inventory, rows: Sequence[Measured], file: str) -> Iterator[Reading]:
    listed = {str(seen.value(rank, "host") or "") for rank, _ in seen.of("rank")}
    hosts = max((row.hosts for row in rows if row.hosts), default=len(listed))
    ranks = ranks_of(seen, rows)
    if not ranks or not hosts:
        raise SpecError(f"{file}: no '# Rank' lines, so ranks and hosts are not known")
    for operation, table in by_operation(rows, ranks, (file,))[1].items():
        outside = {(item.file, item.line) for item in table if not item.in_place}
        for item in table:
            # Out of place is what published sweeps are compared by, and so what weft predicts.
            if not (item.in_place and (item.file, item.line) in outside):
                yield CollectiveReading(
                    operation=operation, ranks=ranks, hosts=hosts, size_bytes=item.size_bytes,
                    time_s=item.time_s,
                )  # fmt: skip


def _message(row: Measured) -> MessageReading:
    verb = _verb(row)
    assert verb is not None
    return MessageReading(
        verb=verb, size_bytes=row.size_bytes, queue_pairs=row.queue_pairs, depth=row.depth,
        ways=row.ways, time_s=row.time_s or None, bytes_per_s=row.rate_bytes_per_s or None,
    )  # fmt: skip


def _verb(row: Measured) -> Literal["write", "send", "read"] | None:
    if row.benchmark != "perftest":
        return None
    said = row.operation.lower()
    return next((verb for verb in _VERBS if verb in said), None)


_VERBS: Final[tuple[Literal["write", "send", "read"], ...]] = ("write", "send", "read")


def ranks_of(seen: Inventory, rows: Sequence[Measured]) -> int | None:
    """Return the ranks of a collective: as its rows say, or as many as the benchmark lists."""
    listed = [whole(rank.field("rank")) for rank, _ in seen.of("rank")]
    counts = [row.ranks for row in rows if row.ranks]
    return max([*counts, *(rank + 1 for rank in listed if rank is not None)], default=None)


def by_operation(
    rows: Sequence[Measured], ranks: int | None, sources: tuple[str, ...]
) -> tuple[Operation, dict[Operation, list[Measured]], tuple[str, ...]]:
    """Return the first operation, the rows of each, and how it is known what was run."""
    tables: dict[Operation, list[Measured]] = {}
    for row in rows:
        kind = operation_in(row.operation) or operation_in(Path(row.file).name)
        if kind is not None:
            tables.setdefault(kind, []).append(row)
    if not tables:
        kind, told = _guessed(rows, ranks, sources)
        return kind, {kind: list(rows)}, told
    return next(iter(tables)), tables, ()


def _guessed(
    rows: Sequence[Measured], ranks: int | None, sources: tuple[str, ...]
) -> tuple[Operation, tuple[str, ...]]:
    """Return what was run where no row names it: a file does, or busbw over algbw tells."""
    for source in sources:
        if (kind := operation_in(Path(source).name)) is not None:
            return kind, ()
    factor = bus_over_algorithm(rows)
    reduces = any(row.reduction in ("sum", "avg", "max", "min", "prod") for row in rows)
    if ranks and ranks > 2 and factor:  # noqa: PLR2004 - 2 (n-1)/n is 1 for two ranks
        for kind in (Operation.ALL_REDUCE, Operation.REDUCE_SCATTER):
            if reduces and abs(kind.bus_factor(ranks) / factor - 1) < _TOLERANCE:
                return kind, ("the operation is told by busbw over algbw",)
    raise SpecError(
        "the operation is not named in the output; put it into the file's name, as "
        "all_reduce.txt"
    )


def bus_over_algorithm(rows: Sequence[Measured]) -> float | None:
    """Return busbw over algbw, the median of the rows that are fast enough to tell it."""
    ratios = sorted(
        row.busbw_bytes_per_s / row.algbw_bytes_per_s
        for row in rows
        if row.busbw_bytes_per_s
        and row.algbw_bytes_per_s
        and row.algbw_bytes_per_s > _TRUSTED_BUSBW
    )
    return ratios[len(ratios) // 2] if ratios else None
