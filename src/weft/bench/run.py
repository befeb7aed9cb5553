"""Running a benchmark: commands out of what is asked, output into a sweep that is kept."""

import datetime as dt
import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from weft import units
from weft.bench import launcher as launchers
from weft.bench import tool as tools
from weft.bench.launcher import Launcher
from weft.bench.processes import Report, Started, on_host, over_hosts, run_together
from weft.bench.sweep import Sweep, Timing, sweep_of
from weft.bench.tool import Ask, Process, Tool
from weft.errors import SpecError, ToolFailed
from weft.inventory.inventory import Inventory
from weft.readers.read import read_text

TIMEOUT_S: Final = 900.0
_VERSION_S: Final = 15.0
_MEETING: Final = ("MASTER_ADDR", "MASTER_PORT")
"""Where ranks meet: runs that differ in it alone are alike."""
_PROGRAM: Final = '"""'
"""A program that is handed over as text begins with its docstring."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchRun:
    """One benchmark that was run."""

    tool: str
    operation: str
    launcher: str
    hosts: tuple[str, ...]
    ranks: int | None
    ranks_per_host: int
    versions: tuple[str, ...]
    options: tuple[str, ...]
    """What else a like run must share: backend, streams, network, words added, variables."""
    label: str = ""
    began: str
    """Time in UTC, as 2026-11-21T16:00:00Z."""
    timings: tuple[Timing, ...]
    what: str
    commands: tuple[str, ...]
    """As they could be typed, one for each process."""
    output: str
    """What the benchmark wrote."""
    id: int | None = None
    """In the history, where it is kept."""


def commands(tool: str, launcher: str, ask: Ask) -> list[Started]:
    """Return the processes that would be started, without starting one."""
    kind, way = tools.find(tool), launchers.find(launcher)
    if ask.operation not in kind.operations:
        known = ", ".join(sorted(kind.operations))
        raise SpecError(f"{kind.title} measures no {ask.operation!r}; it measures: {known}")
    if way.needs_master and len(ask.hosts) > 1 and not ask.master:
        raise SpecError(
            f"{way.title}: the name of the first host is no address; give it with --master"
        )
    asked = replace(
        ask, gang=way.over is not None,
        python=ask.python or (sys.executable if way.here else "python3"),
    )  # fmt: skip
    return [_started(way, asked, process) for process in kind.processes(asked)]


def _started(way: Launcher, ask: Ask, process: Process) -> Started:
    command = process.command
    if way.over is not None and process.gang:
        return over_hosts(way, ask.hosts, ask.ranks_per_host, command)
    if way.on is None:
        raise SpecError(f"{way.title}: starts whole jobs, and this benchmark starts each rank")
    return on_host(
        way, ask.places[process.host], command, serves=process.serves, answers=process.answers
    )


def run(
    tool: str,
    ask: Ask,
    *,
    launcher: str = "local",
    label: str = "",
    timeout_s: float = TIMEOUT_S,
    report: Report = lambda _: None,
) -> BenchRun:
    """Run a benchmark and return what it measured.

    Raises:
        ToolFailed: it is not installed, failed, took too long, or printed no result.
    """
    asked = commands(tool, launcher, ask)
    began = dt.datetime.now(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    text = run_together(asked, timeout_s, report).decode("utf-8", errors="replace")
    seen, sweep = _read(tool, ask, text, asked[-1])
    kind = tools.find(tool)
    timings = _asked_for(kind, ask, sweep)
    return BenchRun(
        tool=kind.title, operation=ask.operation, launcher=launcher, hosts=ask.places,
        ranks=sweep.ranks or len(ask.places) * ask.ranks_per_host,
        ranks_per_host=ask.ranks_per_host, label=label, began=began, timings=timings,
        versions=(*_versions(seen), *_asked_version(kind, launcher, ask)),
        options=_options(ask), what=sweep.what, output=text,
        commands=tuple(shown(started) for started in asked),
    )  # fmt: skip


def _asked_for(kind: Tool, ask: Ask, sweep: Sweep) -> tuple[Timing, ...]:
    """Leave out sizes that were not asked for: perftest measures one or all that it has."""
    if "smallest_bytes" not in kind.takes:
        return sweep.timings
    found = tuple(
        timing for timing in sweep.timings
        if ask.smallest_bytes <= timing.size_bytes <= ask.largest_bytes
    )  # fmt: skip
    if not found:
        largest = units.show_size(max(timing.size_bytes for timing in sweep.timings))
        raise ToolFailed(
            f"{kind.title} measured no size from {units.show_size(ask.smallest_bytes)} to "
            f"{units.show_size(ask.largest_bytes)}; its largest is {largest}"
        )
    return found


def shown(started: Started) -> str:
    """Write a process as it could be typed; a program given as text is cut."""
    words = [
        word if "\n" not in word else f"{word.partition(_PROGRAM)[0]}PROGRAM"
        for word in started.words
    ]
    env = [f"{name}={value}" for name, value in started.env.items()]
    return shlex.join([*(["env", *env] if env else []), *words])


def _read(tool: str, ask: Ask, text: str, asked: Started) -> tuple[Inventory, Sweep]:
    name = f"{ask.operation}_{tool}.txt"
    seen = read_text(text, name)
    try:
        return seen, sweep_of(seen, (name,))
    except SpecError as error:
        last = "".join(f"\n  {line[:300]}" for line in text.splitlines()[-8:])
        raise ToolFailed(f"{asked.words[0]} printed no result{last}") from error


def _versions(seen: Inventory) -> tuple[str, ...]:
    found = [
        f"NCCL {version}"
        for process, _ in seen.of("process")
        if (version := seen.value(process, "nccl"))
    ]
    found += [
        f"{seen.value(job, 'benchmark')} {version}"
        for job, _ in seen.of("job")
        if (version := seen.value(job, "benchmark_version"))
    ]
    return tuple(dict.fromkeys(found))


def _asked_version(kind: Tool, launcher: str, ask: Ask) -> tuple[str, ...]:
    way = launchers.find(launcher)
    if kind.version is None or way.on is None:
        return ()
    started = on_host(way, ask.places[0], kind.version(ask), answers=True)
    try:
        text = run_together([started], _VERSION_S).decode("utf-8", errors="replace")
    except ToolFailed:
        return ()
    first = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return (first[:80],) if first else ()


def _options(ask: Ask) -> tuple[str, ...]:
    found = [f"backend={ask.backend}"] if ask.backend else []
    found += [f"streams={ask.streams}"] if ask.streams > 1 else []
    found += [f"interface={ask.interface}"] if ask.interface else []
    named = sorted((k, v) for k, v in ask.env.items() if k not in _MEETING)
    return (*found, *(f"{k}={v}" for k, v in named), *ask.options)


def repeated(
    times: int, one: Callable[[], BenchRun], report: Report = lambda _: None
) -> Sequence[BenchRun]:
    """Run a benchmark several times, saying which of them it is."""
    found = []
    for place in range(times):
        if times > 1:
            report(f"run {place + 1} of {times}")
        found.append(one())
    return found
