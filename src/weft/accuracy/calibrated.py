"""The figure that papers report: calibrate on one sweep of a system, predict the rest of it.

Constants are those fitted without the system's product family; the sweep alone makes the
overlay that `weft calibrate` would write.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from weft.accuracy.by_system import BySystem, summary
from weft.accuracy.kind import Row, Score
from weft.accuracy.rows import collective as rows
from weft.calibrate.fit import collective_ratios
from weft.calibrate.reader import CollectiveReading
from weft.engines.analytic.collective import constants
from weft.errors import WeftError
from weft.spec.overlay import Overlay

KIND: Final = "calibrated"
SIZES, COLLECTIVES, SCALES = "its other sizes", "its other collectives", "its other scales"
_MOST_SWEEPS: Final = 4
"""Sweeps of a system that are calibrated on, evenly chosen: some systems have dozens."""
_FEWEST_SIZES: Final = 4


@dataclass(frozen=True, slots=True)
class _Sweep:
    run: Row
    case: rows.Case
    points: Sequence[rows.Point]


def calibrated(tables: Mapping[str, list[Row]]) -> tuple[BySystem, ...]:
    """Return errors of other sizes, collectives and scales of systems after one sweep."""
    scores: dict[str, list[Score]] = defaultdict(list)
    for sweeps in _by_system(tables).values():
        step = max(1, len(sweeps) // _MOST_SWEEPS)
        for sweep in sweeps[::step][:_MOST_SWEEPS]:
            for what, score in _scored(sweep, sweeps):
                scores[what].append(score)
    return tuple(summary(KIND, name, found) for name, found in scores.items() if found)


def _by_system(tables: Mapping[str, list[Row]]) -> dict[str, list[_Sweep]]:
    found: dict[str, list[_Sweep]] = defaultdict(list)
    for run, points in rows.runs(tables):
        case = rows.try_case(run)
        if case and case.healthy and case.group.domains > 1 and len(points) >= _FEWEST_SIZES:
            found[case.site].append(_Sweep(run, case, points))
    return found


def _scored(sweep: _Sweep, sweeps: Iterable[_Sweep]) -> Iterator[tuple[str, Score]]:
    with constants.using(constants.without(sweep.case.site)):
        half = _overlay(sweep, sweep.points[::2])
        yield from _targets(SIZES, sweep, sweep.points[1::2], half)
        overlay = _overlay(sweep, sweep.points)
        for other in sweeps:
            what = _difference(sweep.case, other.case)
            if what:
                yield from _targets(what, other, other.points, overlay)


def _difference(one: rows.Case, other: rows.Case) -> str:
    """Name the one thing in which two sweeps differ; nothing where it is none or more."""
    same_scale = one.group == other.group
    same_collective = one.operation is other.operation
    if same_scale == same_collective:
        return ""
    return COLLECTIVES if same_scale else SCALES


def _overlay(sweep: _Sweep, points: Sequence[rows.Point]) -> Overlay | None:
    case = sweep.case
    readings = [
        CollectiveReading(
            operation=case.operation, ranks=case.group.ranks, hosts=case.group.domains,
            size_bytes=p.size_bytes, time_s=p.time_s,
        )
        for p in points
    ]  # fmt: skip
    try:
        ratios = collective_ratios(case.cluster, readings)
    except WeftError:
        return None
    return Overlay(name="one sweep", fabric=case.cluster.fabric.kind, collectives=ratios)


def _targets(
    what: str, sweep: _Sweep, points: Sequence[rows.Point], overlay: Overlay | None
) -> Iterator[tuple[str, Score]]:
    if overlay is None:
        return
    case = replace(sweep.case, cluster=sweep.case.cluster.with_(overlay=overlay))
    for point in points:
        name = f"{sweep.run['run_id']}@{point.size_bytes:.0f}"
        yield what, rows.score(KIND, name, case, point)
