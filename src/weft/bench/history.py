"""What the run history shows: runs that are alike, and whether they became slower.

Two runs are alike when operation, sizes, hosts, ranks, versions of the software and options
are the same; others are never compared. Of alike runs each is one number: the mean over its
sizes of log(time / median time of that size). Two tests look at these numbers:

* the newest run against those before, by the interval that one more run of the same kind falls
  into with 99 % (Student's law, n - 2 degrees of freedom), and slower by more than NARROWEST;
* where the series changed, by the split whose two means differ most against their spread; its
  p-value is the share of random orders of the same runs that split as well (permutation test).
"""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median, stdev
from typing import Final

from weft.bench import store, student
from weft.bench.baseline import NARROWEST
from weft.bench.run import BenchRun

LEVEL: Final = 0.01
"""Chance of calling runs slower that are not."""
ORDERS: Final = 2000
"""Random orders of the permutation test; SEED and the series make the seed."""
SEED: Final = 1
_FEWEST: Final = 4
"""Runs from which the newest can be compared: its forerunners then have a spread."""
_FEWEST_TO_SPLIT: Final = 8
"""Fewer runs have too few orders for a p-value below LEVEL."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """Where a series of alike runs became slower or faster."""

    run: int | None
    """The first run after the change."""
    began: str
    slower_ratio: float
    """Mean time after over before, less one; negative is faster."""
    probability: float
    """Of a split as good where nothing changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """Runs that are alike, in the order they were run."""

    tool: str
    operation: str
    hosts: tuple[str, ...]
    ranks: int | None
    versions: tuple[str, ...]
    options: tuple[str, ...]
    sizes: int
    runs: tuple[int | None, ...]
    began: tuple[str, ...]
    peaks_bytes_per_s: tuple[float, ...]
    """Largest size over time, of each run."""
    slower_ratios: tuple[float, ...]
    """Each run against the median of all."""
    newest_slower_ratio: float | None = None
    """The newest against those before; none where there are too few."""
    newest_limit_ratio: float | None = None
    """Slower than this is a regression."""
    regression: bool = False
    change: Change | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """The series of a run history."""

    url: str
    series: tuple[Series, ...]
    runs: int
    unreadable: tuple[str, ...] = ()
    """Rows that cannot be read and are left out, each with its number and the reason."""

    @property
    def regressions(self) -> int:
        """Count the series whose newest run is slower."""
        return sum(series.regression for series in self.series)


def history(url: str | None = None, *, label: str | None = None) -> History:
    """Read the history and compare like with like."""
    where = url or store.default_url()
    stored = store.load(where)
    runs = [run for run in stored.runs if label is None or run.label == label]
    groups: dict[tuple[object, ...], list[BenchRun]] = {}
    for run in runs:
        groups.setdefault(likeness(run), []).append(run)
    return History(
        url=store.hidden(where),
        series=tuple(series(found) for found in groups.values()),
        runs=len(runs),
        unreadable=stored.unreadable,
    )


def likeness(run: BenchRun) -> tuple[object, ...]:
    """Return what two runs must share to be compared."""
    return (
        run.tool, run.operation, run.launcher, tuple(sorted(run.hosts)), run.ranks,
        run.ranks_per_host, run.versions, run.options, run.label,
        tuple(t.size_bytes for t in run.timings) if run.tool != "iperf3" else (),
    )  # fmt: skip


def series(runs: Sequence[BenchRun]) -> Series:
    """Compare runs that are alike."""
    first = runs[0]
    levels = _levels(runs)
    slower, limit = newest(levels)
    return Series(
        tool=first.tool, operation=first.operation, hosts=first.hosts, ranks=first.ranks,
        versions=first.versions, options=first.options, sizes=len(first.timings),
        runs=tuple(run.id for run in runs), began=tuple(run.began for run in runs),
        peaks_bytes_per_s=tuple(_peak(run) for run in runs),
        slower_ratios=tuple(math.expm1(level) for level in levels),
        newest_slower_ratio=slower, newest_limit_ratio=limit,
        regression=slower is not None and limit is not None and slower > limit,
        change=_change(runs, levels),
    )  # fmt: skip


def _levels(runs: Sequence[BenchRun]) -> list[float]:
    """Return each run as the mean over its sizes of log(time of a byte / median of all)."""
    places = range(min(len(run.timings) for run in runs))
    costs = [
        [run.timings[p].time_s / run.timings[p].size_bytes for p in places] for run in runs
    ]
    usual = [median(cost[place] for cost in costs) for place in places]
    return [fmean(math.log(c / u) for c, u in zip(cost, usual, strict=True)) for cost in costs]


def _peak(run: BenchRun) -> float:
    return max(t.size_bytes / t.time_s for t in run.timings)


def newest(levels: Sequence[float]) -> tuple[float | None, float | None]:
    """Return how much slower the newest is, and from where that is a regression.

    >>> newest([0.0, 0.01, -0.01, 0.0, 0.5])[0] > newest([0.0, 0.01, -0.01, 0.0, 0.5])[1]
    True
    >>> newest([0.0, 0.5])
    (None, None)
    """
    if len(levels) < _FEWEST:
        return None, None
    before = levels[:-1]
    wide = student.quantile(1 - LEVEL, len(before) - 1)
    limit = wide * stdev(before) * math.sqrt(1 + 1 / len(before))
    return math.expm1(levels[-1] - fmean(before)), max(NARROWEST, math.expm1(limit))


def _change(runs: Sequence[BenchRun], levels: Sequence[float]) -> Change | None:
    found = change_point(levels)
    if found is None:
        return None
    place, probability = found
    slower = math.expm1(fmean(levels[place:]) - fmean(levels[:place]))
    if abs(slower) < NARROWEST:
        return None
    return Change(
        run=runs[place].id,
        began=runs[place].began,
        slower_ratio=slower,
        probability=probability,
    )


def change_point(levels: Sequence[float]) -> tuple[int, float] | None:
    """Return where a series changes and the p-value, if it is below LEVEL.

    >>> place, p = change_point([0.0, 0.01, 0.0, 0.01, 0.0, 0.4, 0.41, 0.4, 0.41, 0.4])
    >>> place, p < 0.01
    (5, True)
    >>> change_point([0.0, 0.01] * 5) is None
    True
    """
    if len(levels) < _FEWEST_TO_SPLIT:
        return None
    best, place = _split(levels)
    # The same orders for every series would err alike, so the series is part of the seed.
    draw = random.Random(f"{SEED} {levels}")  # noqa: S311 - a permutation test, no secret
    order = list(levels)
    better = 0
    for _ in range(ORDERS):
        draw.shuffle(order)
        better += _split(order)[0] >= best
    probability = (better + 1) / (ORDERS + 1)
    return (place, probability) if probability < LEVEL else None


def _split(levels: Sequence[float]) -> tuple[float, int]:
    """Return the largest difference of means against its weight, and where it is."""
    whole, count, left = sum(levels), len(levels), 0.0
    best, place = -1.0, 0
    for k in range(1, count):
        left += levels[k - 1]
        gap = abs(left / k - (whole - left) / (count - k)) * math.sqrt(k * (count - k) / count)
        if gap > best:
            best, place = gap, k
    return best, place
