"""Whether the committed folds are those of today's model: their predictions, worked out again.

A fold is what was fitted without one product family. Its predictions for that family depend on
the code, the catalogue and the committed constants; the file of folds keeps the mean logarithm
of each family's predicted times as they were when it was written.
"""

from collections import defaultdict
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from math import log
from statistics import fmean
from typing import Final

from weft.accuracy.kind import Row
from weft.accuracy.rows import collective as rows
from weft.engines.analytic.collective import collective_time, constants
from weft.errors import WeftError

_SAME: Final = 2e-3
"""Difference of the mean log time that rounding of the file explains."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Nested:
    """The folds that nested figures rest on, and whether they are those of today's model."""

    fitted: str
    """Day of the fit."""
    families: int
    systems: int
    changed: tuple[str, ...]
    """Families whose predictions are no longer those of the fit: it has to be run again."""


def mean_log_times(tables: Mapping[str, list[Row]]) -> dict[str, float]:
    """Return the mean logarithm of the times predicted for each family without it."""
    found: dict[str, list[float]] = defaultdict(list)
    for run, points in rows.runs(tables):
        case = rows.try_case(run)
        family = constants.family(case.site) if case and case.healthy else ""
        if not case or not family:
            continue
        with constants.using(constants.without_family(family)):
            for point in points:
                asked = case.cluster, case.operation, point.size_bytes, case.group
                with suppress(WeftError):
                    found[family].append(log(collective_time(*asked).time_s.value))
    return {family: fmean(logs) for family, logs in sorted(found.items())}


def check(tables: Mapping[str, list[Row]]) -> Nested:
    """Work the predictions of every fold out again and compare."""
    raw = constants.nested()
    then = raw["mean_log_time"]
    now = mean_log_times(tables)
    changed = [name for name, mean in then.items() if abs(now.get(name, mean) - mean) > _SAME]
    return Nested(
        fitted=str(raw["fitted"]), families=len(raw["without"]), systems=len(raw["families"]),
        changed=tuple(changed),
    )  # fmt: skip
