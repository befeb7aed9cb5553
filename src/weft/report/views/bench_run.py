"""`weft bench run`: what was measured, size by size, with the spread of its iterations."""

from collections.abc import Iterator

from weft.bench.run import BenchRun
from weft.report.numbers import figures, noise
from weft.report.page import Block, Columns, Facts, Sentences, View, table


def _title(result: BenchRun) -> str:
    return f"{result.tool}: {result.operation}"


def _blocks(result: BenchRun) -> Iterator[Block]:
    yield Facts(pairs=tuple(_facts(result)))
    columns: Columns = {
        "size": "size_bytes", "time": "time_s", "noise": lambda run: noise(run.noise_ratio),
        "algbw GB/s": lambda run: figures(run.size_bytes / run.time_s / 1e9),
    }  # fmt: skip
    yield table(result.timings, columns, title="Measured")
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


bench_run = View(shows="weft.bench.run.BenchRun", verb="", title=_title, blocks=_blocks)
