"""Own runs known to be good, which say better than any model what a run should show.

A good run replaces the model at the sizes it measured (between them its ratio to the model is
interpolated; farther than REACH_DOUBLINGS outside of them the model stays). The band is what
one more run of the same cluster falls into, by the spread between the good ones::

    edge = t(0.9, n - 1) x spread x sqrt(1 + 1/n), and at least NARROWEST

One good run alone says nothing of that spread: NARROWEST is taken, and a law of few degrees.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Final

from weft.bench import student
from weft.bench.sweep import Sweep, Timing
from weft.errors import SpecError
from weft.results import Estimate

NARROWEST: Final = 0.03
"""No cluster repeats a collective more closely than this [OCI A100, five versions]."""
REACH_DOUBLINGS: Final = 2.0
"""How far beyond its sizes a good run still speaks: as far as one step of a usual sweep."""
FEWEST_DEGREES: Final = 3
"""Of a band of few runs: the widest law that has a spread."""
_BAND: Final = 0.9
Key = tuple[str, float]
"""Table and size."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """What good runs took."""

    runs: tuple[Mapping[Key, float], ...]
    """Of each run the time of every size."""
    names: tuple[str, ...]

    def ratios(self, modelled: Mapping[Key, float]) -> dict[str, list[tuple[float, float]]]:
        """Return, by table, doublings of the size and log(good / modelled), sizes in order."""
        found: dict[Key, list[float]] = {}
        for run in self.runs:
            for key, time_s in run.items():
                if key in modelled:
                    found.setdefault(key, []).append(math.log(time_s / modelled[key]))
        tables: dict[str, list[tuple[float, float]]] = {}
        for (table, size), logs in sorted(found.items()):
            tables.setdefault(table, []).append((math.log2(size), fmean(logs)))
        return tables

    @property
    def degrees(self) -> int:
        """Degrees of freedom of the law of one more run."""
        return max(FEWEST_DEGREES, len(self.runs) - 1)

    def band(self, time_s: float) -> Estimate:
        """Return a time with the 80 % band of one more run."""
        wide = math.exp(self.edge())
        return Estimate(time_s, time_s / wide, time_s * wide)

    def edge(self) -> float:
        """Return the logarithm of the upper edge of the 80 % band over the middle."""
        least, count = math.log1p(NARROWEST), len(self.runs)
        shared = set.intersection(*(set(run) for run in self.runs))
        if count < 2 or not shared:  # noqa: PLR2004 - a spread needs two
            return least
        levels = [fmean(math.log(run[key]) for key in shared) for run in self.runs]
        wide = student.quantile(_BAND, count - 1) * stdev(levels) * math.sqrt(1 + 1 / count)
        return max(least, wide)


def table_of(timing: Timing) -> str:
    """Name the table of a timing, as good runs and the judged one share it."""
    return timing.test.label if timing.test else ""


def at(ratios: Sequence[tuple[float, float]], size_bytes: float) -> float | None:
    """Return the logarithm of a ratio at a size; none where it is too far from all measured.

    >>> at([(10, 0.0), (12, 0.2)], 2**11)
    0.1
    >>> at([(10, 0.0)], 2**20) is None
    True
    """
    place = math.log2(size_bytes)
    low, high = ratios[0], ratios[-1]
    if place < low[0] - REACH_DOUBLINGS or place > high[0] + REACH_DOUBLINGS:
        return None
    if place <= low[0] or place >= high[0]:
        return (low if place <= low[0] else high)[1]
    after = next(index for index, (size, _) in enumerate(ratios) if size >= place)
    (a, x), (b, y) = ratios[after - 1], ratios[after]
    return x + (y - x) * (place - a) / (b - a)


def baseline(judged: Sweep, good: Iterable[tuple[str, Sweep]]) -> Baseline | None:
    """Return what good runs took, which must be of the same kind as the run to be judged."""
    runs, names = [], []
    for name, sweep in good:
        _check_alike(judged, sweep, name)
        runs.append({(table_of(t), t.size_bytes): t.time_s for t in sweep.timings})
        names.append(name)
    return Baseline(runs=tuple(runs), names=tuple(names)) if runs else None


def _check_alike(judged: Sweep, one: Sweep, name: str) -> None:
    """Refuse a good run that another thing was measured in: like with like only."""
    for what, own, other in (
        ("measures", judged.what, one.what),
        ("runs", judged.operation.value, one.operation.value),
        ("has ranks:", judged.ranks, one.ranks),
        ("has hosts:", judged.host_count, one.host_count),
    ):
        if own != other and None not in (own, other):
            raise SpecError(
                f"{name}, given as a good run, {what} {other}, the judged one {own}: only runs "
                "of the same kind are compared"
            )
    tables, there = ({table_of(t) for t in run.timings} for run in (judged, one))
    if tables.isdisjoint(there):
        raise SpecError(
            f"{name}, given as a good run, has {', '.join(sorted(there)) or 'one table'}, the "
            f"judged one {', '.join(sorted(tables)) or 'one table'}: they share no table"
        )
