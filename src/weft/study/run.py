"""Run a study: what is done already is read, the rest runs, the table is written at the end."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from statistics import median

from weft import plugins
from weft.errors import SpecError, UnknownName
from weft.predict.provenance import provenance
from weft.results import Provenance
from weft.spec.document import Tree
from weft.spec.study import Study
from weft.study import table
from weft.study.backend import BACKENDS, Backend
from weft.study.journal import appending, fingerprint, journal_of, read_rows
from weft.study.points import Point, count, points
from weft.study.task import REASON, Cell, Row, Task

NUMBER = "point"


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a study is."""

    done: int
    of: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Extreme:
    """One end of a measure over all points, and where it is reached."""

    value: float
    at: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """One measure over all points that have it."""

    name: str
    least: Extreme
    median: float
    most: Extreme


@dataclass(frozen=True, slots=True, kw_only=True)
class Studied:
    """What a study found."""

    name: str
    verb: str
    table: str
    """The file with a row for each point."""
    backend: str
    points: int
    done: int
    taken_over: int
    """Of those done, from an earlier run."""
    failed: Mapping[str, int]
    """Points without measures by the reason."""
    spreads: tuple[Spread, ...]
    elapsed_s: float
    provenance: Provenance
    """Of the study as a whole; each row has its own."""

    @property
    def complete(self) -> bool:
        """Tell whether every point was run."""
        return self.done == self.points


def run_study(
    study: Study,
    documents: Sequence[Tree],
    out: Path,
    *,
    backend: str = "joblib",
    address: str | None = None,
    workers: int | None = None,
    fresh: bool = False,
    report: Callable[[Progress], None] = lambda _: None,
) -> Studied:
    """Run every point of a study that an earlier run has not; then write the table.

    ``out`` ends in .csv or .parquet. Rows are kept in a journal beside it as they come; Ctrl-C
    ends the run, and the same call goes on with it. Raises SpecError where the study, the
    backend's options or the file do not fit.
    """
    began = time.monotonic()
    whole = count(study)
    table.check(out)
    place = _backend(backend, address)
    kept, told = tuple(documents), fingerprint(study, tuple(documents))
    journal = journal_of(out)
    if fresh:
        journal.unlink(missing_ok=True)
    rows = read_rows(journal, told)
    before = len(rows)
    task = Task(
        verb=study.verb, documents=kept, operation=study.operation, fidelity=study.fidelity
    )
    waiting = (point for point in points(study) if point.number not in rows)
    try:
        with appending(journal, told) as write:
            for point, row in place.run(task, waiting, workers, address):
                write(point.number, row)
                rows[point.number] = row
                report(Progress(done=len(rows), of=whole))
    except KeyboardInterrupt:
        pass  # What is done is in the journal.
    every = [_row(point, rows[point.number]) for point in points(study) if point.number in rows]
    if len(rows) == whole:
        table.write(out, every)
        journal.unlink(missing_ok=True)
    made = provenance(study, sources=(), assumptions=())
    return Studied(
        name=study.name, verb=study.verb, table=str(out), backend=place.title, points=whole,
        done=len(rows), taken_over=before, failed=_failed(rows.values()),
        spreads=tuple(_spreads(study, every)), elapsed_s=time.monotonic() - began,
        provenance=replace(made, engine=study.fidelity),
    )  # fmt: skip


def _backend(name: str, address: str | None) -> Backend:
    if name not in BACKENDS:
        raise UnknownName(plugins.unknown("backend", name, [*BACKENDS]))
    found = BACKENDS[name]
    if address and not found.takes_address:
        raise SpecError(f"--address {address}: {name} runs on this machine alone; remove it")
    if find_spec(found.needs) is None:
        raise UnknownName(f"--backend {name}: is not installed; pip install 'weft[{name}]'")
    return found


def _row(point: Point, row: Row) -> dict[str, Cell]:
    return {NUMBER: point.number, **dict(point.values), **row}


def _failed(rows: Iterable[Row]) -> dict[str, int]:
    reasons = Counter(str(row[REASON]) for row in rows if REASON in row)
    return dict(reasons.most_common())


def _spreads(study: Study, rows: Sequence[Mapping[str, Cell]]) -> Iterator[Spread]:
    """Yield the spread of every measure that has a band."""
    names = dict.fromkeys(name for row in rows for name in row if f"{name}_low" in row)
    for name in names:
        found = sorted((row for row in rows if row.get(name) is not None),
                       key=lambda row: float(row[name] or 0))  # fmt: skip
        ends = [
            Extreme(value=float(row[name] or 0), at=tuple((k, str(row[k])) for k in study.keys))
            for row in (found[0], found[-1])
        ]
        middle = median(float(row[name] or 0) for row in found)
        yield Spread(name=name, least=ends[0], median=middle, most=ends[1])
