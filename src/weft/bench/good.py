"""Own runs known to be good: files, or runs of the history by their numbers."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from weft.bench import store
from weft.bench.run import BenchRun
from weft.bench.sweep import Sweep, read_sweep
from weft.errors import SpecError

_NUMBERS: Final = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?")


def good_runs(
    item: str, judged: Sweep, history: str | None = None
) -> Iterator[tuple[str, Sweep]]:
    """Yield the runs that a word names: a file, or numbers of the history, as 3 or 3-9."""
    numbers = _NUMBERS.fullmatch(item)
    if numbers is None or Path(item).exists():
        yield item, read_sweep([Path(item)])[0]
        return
    first = int(numbers[1])
    last = int(numbers[2] or first)
    url = history or store.default_url()
    kept = {run.id: run for run in store.load(url).runs if run.id is not None}
    named = [run for key, run in sorted(kept.items()) if first <= key <= last]
    if numbers[2]:
        # Between the first and the last may stand runs of another kind.
        named = [run for run in named if _alike(run, judged)]
    if not named:
        there = f"{min(kept)} to {max(kept)}" if kept else "none"
        raise SpecError(
            f"the run history {store.hidden(url)} has no run {item} of this kind; it has: "
            f"{there} (weft bench history lists them)"
        )
    for run in named:
        yield f"run {run.id}", _sweep(run, judged)


def _alike(run: BenchRun, judged: Sweep) -> bool:
    operation = judged.what != "collective" or run.operation == judged.operation.value
    return operation and run.what == judged.what and judged.ranks in (None, run.ranks)


def _sweep(run: BenchRun, judged: Sweep) -> Sweep:
    """Return a kept run as a sweep; a history holds no tables, and one operation a run."""
    if run.operation not in (judged.operation.value, *judged.tests) and run.tool != "perftest":
        raise SpecError(
            f"run {run.id} of the history is {run.operation}, the judged one "
            f"{judged.operation.value}: only runs of the same kind are compared"
        )
    tests = {timing.test for timing in judged.timings}
    if len(tests) > 1:
        raise SpecError(
            "the run to be judged has several tables and the history keeps one of a run; give "
            "the good run as a file"
        )
    (test,) = tests
    return Sweep(
        benchmark=run.tool, what=judged.what, operation=judged.operation,
        timings=tuple(replace(timing, test=test) for timing in run.timings),
        ranks=run.ranks, host_count=len(run.hosts) or None,
    )  # fmt: skip
