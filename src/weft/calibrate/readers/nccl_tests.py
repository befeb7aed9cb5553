"""The text that nccl-tests and rccl-tests print, with whatever is logged between its rows."""

from collections.abc import Iterator
from typing import Final

import re2

from weft.calibrate.reader import CollectiveReading, Reader
from weft.errors import SpecError
from weft.inventory.values import number, whole
from weft.traffic.collective import Operation

NAMES: Final = {
    "all_reduce": Operation.ALL_REDUCE, "allreduce": Operation.ALL_REDUCE,
    "all_gather": Operation.ALL_GATHER, "allgather": Operation.ALL_GATHER,
    "reduce_scatter": Operation.REDUCE_SCATTER, "reducescatter": Operation.REDUCE_SCATTER,
    "alltoall": Operation.ALL_TO_ALL, "all_to_all": Operation.ALL_TO_ALL,
    "sendrecv": Operation.SEND_RECV, "send_recv": Operation.SEND_RECV,
    "broadcast": Operation.BROADCAST, "reduce": Operation.REDUCE,
}  # fmt: skip
_HEAD: Final = re2.compile(r"(?i)#.*\bsize\b.*\btime\b.*\balgbw\b")
_RANK: Final = re2.compile(r"#\s*Rank\s+(\d+).*?\bon\s+(\S+)")
_ROW: Final = re2.compile(r"^\s*(\d+)\s+(\d+)\s+(\w+)\s+(.*)$")
_SIDE: Final = 4
"""Columns of one side: time, algbw, busbw, wrong."""
_REDUCES: Final = frozenset({"sum", "prod", "min", "max", "avg", "all", "mulsum"})
_TOLERANCE: Final = 0.03
_US: Final = 1e-6


def operation_in(text: str) -> Operation | None:
    """Return the operation that a command line or a file name names.

    >>> operation_in("./build/reduce_scatter_perf -b 8")
    <Operation.REDUCE_SCATTER: 'reduce_scatter'>
    """
    lowered = text.lower()
    for name in sorted(NAMES, key=len, reverse=True):
        if name in lowered:
            return NAMES[name]
    return None


def _claims(text: str) -> bool:
    return any(_HEAD.search(line) for line in text.splitlines())


def _read(text: str, name: str) -> Iterator[CollectiveReading]:
    lines = text.splitlines()
    hosts_by_rank = {whole(m[1]): m[2] for m in map(_RANK.match, lines) if m}
    rows = [row for line in lines if (row := _row(line))]
    if not hosts_by_rank:
        raise SpecError(f"{name}: no '# Rank' lines, so ranks and hosts are not known")
    ranks, hosts = len(hosts_by_rank), len(set(hosts_by_rank.values()))
    operation = _operation(text, name, rows, ranks)
    for size_bytes, _, sides in rows:
        time_us = sides[0][0]
        if size_bytes > 0 and time_us > 0:
            yield CollectiveReading(
                operation=operation, ranks=ranks, hosts=hosts, size_bytes=size_bytes,
                time_s=time_us * _US,
            )  # fmt: skip


_Sides = list[tuple[float, float, float]]


def _row(line: str) -> tuple[float, str, _Sides] | None:
    """Return size, reduction and the time, algbw and busbw of one line, out of place first.

    Out of place is what published sweeps are compared by, and so what weft predicts.
    """
    match = _ROW.match(line)
    if match is None:
        return None
    cells = match[4].split()
    reduction = cells[0] if cells and cells[0].isalpha() else ""
    sides = []
    for end in (len(cells), len(cells) - _SIDE):
        found = _numbers(cells[max(0, end - _SIDE) : end])
        if found:
            sides.append(found)
    return (number(match[1]) or 0.0, reduction, sides[::-1]) if sides else None


def _numbers(cells: list[str]) -> tuple[float, float, float] | None:
    """Return three figures of which the time has a decimal point or the rates have one."""
    figures = [found for cell in cells[:3] if (found := number(cell)) is not None]
    if len(figures) < 3 or len(cells) != _SIDE or "." not in "".join(cells[1:3]):  # noqa: PLR2004
        return None
    return figures[0], figures[1], figures[2]


def _operation(
    text: str, name: str, rows: list[tuple[float, str, _Sides]], ranks: int
) -> Operation:
    """Return what was run: named in the text, in the file's name, or told by busbw/algbw."""
    for line in text.splitlines():
        if "_perf" in line and operation_in(line):
            return NAMES[
                next(n for n in sorted(NAMES, key=len, reverse=True) if n in line.lower())
            ]
    named = operation_in(name)
    if named is not None:
        return named
    told = _told_by_factor(rows, ranks)
    if told is None:
        raise SpecError(
            f"{name}: the operation is not named; put it into the file's name, as "
            "all_gather.txt"
        )
    return told


def _told_by_factor(rows: list[tuple[float, str, _Sides]], ranks: int) -> Operation | None:
    ratios = sorted(s[2] / s[1] for _, _, sides in rows for s in sides if s[1] > 1)
    if not ratios or ranks <= 2:  # noqa: PLR2004 - 2 (n-1)/n is 1 for two ranks
        return None
    middle = ratios[len(ratios) // 2]
    if abs(middle / Operation.ALL_REDUCE.bus_factor(ranks) - 1) < _TOLERANCE:
        return Operation.ALL_REDUCE
    scatter = abs(middle / Operation.REDUCE_SCATTER.bus_factor(ranks) - 1) < _TOLERANCE
    if scatter and any(reduction in _REDUCES for _, reduction, _ in rows):
        return Operation.REDUCE_SCATTER
    return None


nccl_tests = Reader(title="nccl-tests text", claims=_claims, read=_read)
