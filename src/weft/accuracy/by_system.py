"""Errors and coverage with every system counted once, however many rows it has."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import fmean, median, pstdev
from typing import Final

from weft.accuracy.kind import Score, factor, is_apart

ALL: Final = "all"
WITHIN: Final = "within the measured domain"
BEYOND: Final = "extrapolated"
PARTS: Final = ("scale", "collective")
"""Labels that systems are also reported by."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BySystem:
    """Errors of some rows of a kind: medians and means over systems, not over rows."""

    kind: str
    part: str
    """``all``, or what its rows have in common."""
    systems: int
    rows: int
    median_abs_error_ratio: float
    """Median over systems of the median error of each."""
    median_factor: float
    """The same of the larger of predicted over measured and measured over predicted."""
    inside_band_ratio: float
    """Mean over systems of the share of their rows inside the 80 % band."""
    inside_band_error_ratio: float
    """Standard error of that mean."""


def by_system(scores: Iterable[Score]) -> Iterator[BySystem]:
    """Yield the errors of every kind: of all rows, by domain, number of hosts, collective."""
    kinds: dict[str, list[Score]] = defaultdict(list)
    for score in scores:
        if not is_apart(score):
            kinds[score.kind].append(score)
    for kind, own in kinds.items():
        yield summary(kind, ALL, own)
        for name, keep in _parts(own):
            found = [score for score in own if keep(score)]
            if found and len(found) < len(own):
                yield summary(kind, name, found)


def _parts(scores: Sequence[Score]) -> Iterator[tuple[str, Callable[[Score], bool]]]:
    for name in (WITHIN, BEYOND):
        yield name, lambda score, name=name: score.labels.get("domain") == name  # type: ignore[misc]
    for label in PARTS:
        for value in sorted({s.labels.get(label, "") for s in scores} - {""}):
            yield value, lambda s, label=label, value=value: s.labels.get(label) == value  # type: ignore[misc]


def summary(kind: str, part: str, scores: Sequence[Score]) -> BySystem:
    """Return errors and coverage of some rows, by system."""
    systems: dict[str, list[Score]] = defaultdict(list)
    for score in scores:
        systems[score.site].append(score)
    inside = [fmean(score.inside for score in own) for own in systems.values()]
    return BySystem(
        kind=kind, part=part, systems=len(systems), rows=len(scores),
        median_abs_error_ratio=median(
            median(abs(score.error_ratio) for score in own) for own in systems.values()
        ),
        median_factor=median(median(map(factor, own)) for own in systems.values()),
        inside_band_ratio=fmean(inside),
        inside_band_error_ratio=pstdev(inside) / sqrt(len(inside)),
    )  # fmt: skip
