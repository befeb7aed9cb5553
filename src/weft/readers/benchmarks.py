"""Rows of benchmarks in an inventory: one size of one run, whichever tool wrote it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from statistics import median
from typing import Final, Literal

from weft.inventory.entity import Entity
from weft.inventory.inventory import Inventory, Reading
from weft.inventory.values import number

_SUM: Final = "SUM"
_SIDES: Final = (("", False), ("in_place_", True))


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One row: a collective, or messages between two adapters or hosts."""

    what: Literal["collective", "bandwidth", "latency"]
    benchmark: str
    operation: str
    """As the benchmark names it; empty where it does not."""
    size_bytes: float
    time_s: float = 0.0
    """Of a bandwidth: nothing."""
    rate_bytes_per_s: float = 0.0
    """Mean bandwidth of messages."""
    algbw_bytes_per_s: float | None = None
    busbw_bytes_per_s: float | None = None
    in_place: bool = False
    reduction: str = ""
    wrong: int = 0
    ranks: int | None = None
    hosts: int | None = None
    times_s: tuple[float, ...] = ()
    """Of single iterations, where the benchmark timed each."""
    deviation_s: float = 0.0
    iterations: int = 0
    queue_pairs: int = 1
    depth: int | None = None
    ways: int = 1
    adapter: str = ""
    link_layer: str = ""
    streams: int | None = None
    file: str = ""
    line: int = 0


def measured(inventory: Inventory) -> list[Measured]:
    """Return every row that an inventory holds, in the order they were read."""
    found = [row for entity, told in inventory.of("measurement") for row in _rows(entity, told)]
    return list(_summed(inventory, found))


def _rows(entity: Entity, told: Mapping[str, list[Reading]]) -> Iterator[Measured]:
    said = {name: readings[-1].value for name, readings in told.items()}
    base = Measured(
        what="collective", benchmark=_text(said, "benchmark"),
        operation=_text(said, "operation"), size_bytes=_real(said, "size"),
        reduction=_text(said, "reduction").removeprefix("none"), ranks=_whole(said, "ranks"),
        hosts=_whole(said, "hosts"), iterations=_whole(said, "iterations") or 0,
        queue_pairs=_whole(said, "queue_pairs") or 1, depth=_whole(said, "depth"),
        ways=_whole(said, "ways") or 1, adapter=_text(said, "adapter"),
        link_layer=_text(said, "link_layer"), streams=_whole(said, "streams"),
        file=entity.field("file"), line=next(iter(told.values()))[0].evidence.line,
    )  # fmt: skip
    yield from _collectives(base, said)
    if rate := _real(said, "bandwidth"):
        yield replace(base, what="bandwidth", rate_bytes_per_s=rate)
    if time_s := _real(said, "latency"):
        deviation_s = _real(said, "latency_deviation")
        yield replace(base, what="latency", time_s=time_s, deviation_s=deviation_s)


def _collectives(base: Measured, said: Mapping[str, object]) -> Iterator[Measured]:
    listed = said.get("times")
    single = [number(item) for item in listed] if isinstance(listed, tuple) else []
    times_s = tuple(value for value in single if value)
    for side, in_place in _SIDES:
        time_s = _real(said, f"{side}time") or (median(times_s) if times_s and not side else 0)
        if time_s:
            yield replace(
                base, time_s=time_s, in_place=in_place, wrong=_whole(said, f"{side}wrong") or 0,
                algbw_bytes_per_s=_real(said, f"{side}algbw") or None,
                busbw_bytes_per_s=_real(said, f"{side}busbw") or None,
                times_s=() if in_place else times_s,
            )  # fmt: skip


def _summed(inventory: Inventory, rows: list[Measured]) -> Iterator[Measured]:
    """Yield the sum of the TCP connections of a test in place of each of them."""
    waiting: list[Measured] = []
    for row in rows:
        place = Entity("measurement", (row.file, str(row.line), ""))
        stream = inventory.value(place, "stream")
        if stream == _SUM:
            yield replace(row, streams=len(waiting) or None)
            waiting = []
        elif stream is not None:
            waiting.append(row)
        else:
            yield row
    yield from waiting


def _text(said: Mapping[str, object], name: str) -> str:
    value = said.get(name, "")
    return value if isinstance(value, str) else ""


def _real(said: Mapping[str, object], name: str) -> float:
    value = said.get(name)
    return value if isinstance(value, float) else 0.0


def _whole(said: Mapping[str, object], name: str) -> int | None:
    value = said.get(name)
    return int(value) if isinstance(value, float) else None
