"""`weft bench run`: what was measured, size by size, with the spread of its iterations."""

from collections.abc import Iterator

from weft.bench.run import BenchRun
from weft.bench.sweep import Timing
from weft.report.numbers import figures, seconds, show_size
from weft.report.page import Block, Facts, Page, Sentences, Table, View, rows_of

_HUNDRED = 100


def _page(result: BenchRun) -> Page:
    return Page(title=f"{result.tool}: {result.operation}", blocks=tuple(_blocks(result)))


def _blocks(result: BenchRun) -> Iterator[Block]:
    yield Facts(pairs=tuple(_facts(result)))
    yield Table(
        title="Measured",
        columns=("size", "time", "noise", "algbw GB/s"),
        rows=rows_of(*(_row(one) for one in result.timings)),
    )
    yield Sentences(title="Commands", lines=result.commands)


def _facts(result: BenchRun) -> Iterator[tuple[str, str]]:
    yield "hosts", f"{', '.join(result.hosts)} ({result.launcher})"
    if result.ranks:
        yield "ranks", f"{result.ranks}"
    if result.versions:
        yield "versions", ", ".join(result.versions)
    if result.options:
        yield "options", " ".join(result.options)
    yield "began", result.began
    if result.id is not None:
        yield "in the history", f"run {result.id}"


def _row(one: Timing) -> tuple[str, ...]:
    return (
        show_size(one.size_bytes), seconds(one.time_s), f"±{one.noise_ratio * _HUNDRED:.1f} %",
        figures(one.size_bytes / one.time_s / 1e9),
    )  # fmt: skip


bench_run = View(shows="weft.bench.run.BenchRun", verb="", page=_page)
