"""How far the model is from published measurements: scores gathered into groups."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

import numpy as np

from weft.accuracy.aims import Outcome
from weft.accuracy.by_system import BySystem
from weft.accuracy.kind import ONE_HOST, LeftOut, Score, factor, is_apart
from weft.accuracy.nested import Nested
from weft.accuracy.trend import Trend
from weft.results import Provenance

ALWAYS: Final = (
    "collective_from_64MiB", "collective_below_64MiB", "training_step", "topology",
)  # fmt: skip
"""Kinds that every scoreboard has, with no rows where the folder has none."""
_WORST: Final = 10
_EXAMPLES: Final = 3
_NINTH_DECILE: Final = 0.9


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Errors of some rows; ratios are none where there is no row.

    ``error = predicted / measured - 1``; ``bias_ratio`` is its median, with its sign.
    """

    kind: str
    labels: Mapping[str, str]
    """What its rows have in common; empty for all of a kind."""
    rows: int
    left_out: int
    """Rows that the model does not cover (of a whole kind; 0 for a part of one)."""
    apart: int = 0
    """Rows of systems not known to be healthy, or of one host: in ``breakdown`` alone."""
    median_abs_error_ratio: float | None = None
    p90_abs_error_ratio: float | None = None
    bias_ratio: float | None = None
    inside_band_ratio: float | None = None
    """Share of measurements inside the 80 % band."""
    median_factor: float | None = None
    """Median of the larger of predicted over measured and measured over predicted."""
    sites: int = 0
    """Systems that the rows come from: rows of one are not independent."""
    median_abs_error_by_site_ratio: float | None = None
    """Median over systems of the median error of each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteError:
    """Errors of the rows of one system."""

    kind: str
    site: str
    rows: int
    median_abs_error_ratio: float
    bias_ratio: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """Why rows were left out, how many, and some of them."""

    kind: str
    reason: str
    rows: int
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Worst:
    """One of the rows furthest from its prediction."""

    score: Score
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Scoreboard:
    """The model beside published measurements."""

    data: str
    """Folder of the measurements; ``shipped`` for those that come with weft."""
    groups: tuple[Group, ...]
    """One a kind: healthy systems alone, and collectives of more than one host alone.

    A row of a site that a fit has seen is predicted by a fit without that site.
    """
    as_shipped: tuple[Group, ...]
    """The same rows with the shipped constants, where a fit has seen some of them."""
    breakdown: tuple[Group, ...]
    """Parts of a kind by label; rows apart have ``health`` or ``scale`` among their labels."""
    site_errors: tuple[SiteError, ...]
    left_out: tuple[Reason, ...]
    worst: tuple[Worst, ...]
    """The ten furthest rows of each kind."""
    trends: tuple[Trend, ...]
    """Whether runs of one series are predicted in the order of their measurements."""
    scores: tuple[Score, ...]
    by_system: tuple[BySystem, ...]
    """Every system counted once, product families left out of the fit."""
    calibrated: tuple[BySystem, ...]
    """What is left to err after calibrating on one sweep of a system."""
    aims: tuple[Outcome, ...]
    nested: Nested | None
    """Whether the committed folds are today's; none where no sweep was scored."""
    unread: tuple[str, ...]
    """Files of the folder that no kind reads."""
    provenance: Provenance


def group(
    kind: str,
    scores: Sequence[Score],
    *,
    labels: Mapping[str, str] | None = None,
    left_out: int = 0,
    apart: int = 0,
) -> Group:
    """Work out the errors of some rows."""
    named = dict(labels or {})
    if not scores:
        return Group(kind=kind, labels=named, rows=0, left_out=left_out, apart=apart)
    errors = [score.error_ratio for score in scores]
    sizes = [abs(error) for error in errors]
    by_site = [site.median_abs_error_ratio for site in site_errors(scores)]
    return Group(
        kind=kind, labels=named, rows=len(scores), left_out=left_out, apart=apart,
        median_abs_error_ratio=median(sizes),
        p90_abs_error_ratio=float(np.quantile(sizes, _NINTH_DECILE)),
        bias_ratio=median(errors), median_factor=median(map(factor, scores)),
        inside_band_ratio=sum(score.inside for score in scores) / len(scores),
        sites=len(by_site), median_abs_error_by_site_ratio=median(by_site),
    )  # fmt: skip


def site_errors(scores: Iterable[Score]) -> list[SiteError]:
    """Return the errors of each system, the worst first."""
    by_site: dict[tuple[str, str], list[float]] = defaultdict(list)
    for score in scores:
        by_site[score.kind, score.site].append(score.error_ratio)
    found = [
        SiteError(
            kind=kind, site=site, rows=len(errors), bias_ratio=median(errors),
            median_abs_error_ratio=median(map(abs, errors)),
        )
        for (kind, site), errors in by_site.items()
    ]  # fmt: skip
    return sorted(found, key=lambda s: (s.kind, -s.median_abs_error_ratio, s.site))


def parts(kind: str, scores: Sequence[Score], labels: Sequence[str]) -> list[Group]:
    """Break a kind down: its headline rows by each label, then the rows apart."""
    headline = [score for score in scores if not is_apart(score)]
    found = [part for label in labels for part in _by(kind, headline, label)]
    unhealthy = [score for score in scores if not score.healthy]
    found += _by(kind, unhealthy, "health")
    alone = [s for s in scores if s.healthy and s.labels.get("scale") == ONE_HOST]
    return found + [part for part in _by(kind, alone, "scale") if part.rows]


def _by(kind: str, scores: Sequence[Score], label: str) -> list[Group]:
    def value(score: Score) -> str:
        return score.labels.get(label, "") or "not stated"

    return [
        group(kind, [s for s in scores if value(s) == name], labels={label: name})
        for name in sorted({value(s) for s in scores})
    ]


def reasons(left_out: Iterable[LeftOut]) -> list[Reason]:
    """Gather the rows left out by reason, the most frequent first."""
    rows: dict[tuple[str, str], list[str]] = defaultdict(list)
    for row in left_out:
        rows[row.kind, row.reason].append(row.row)
    found = [
        Reason(kind=kind, reason=reason, rows=len(named), examples=tuple(named[:_EXAMPLES]))
        for (kind, reason), named in rows.items()
    ]
    return sorted(found, key=lambda r: (r.kind, -r.rows, r.reason))


def worst(scores: Iterable[Score], source: Callable[[Score], str]) -> list[Worst]:
    """Return the headline rows furthest off, of each kind."""
    by_kind: dict[str, list[Score]] = defaultdict(list)
    for score in scores:
        if not is_apart(score):
            by_kind[score.kind].append(score)
    return [
        Worst(score=score, source=source(score))
        for kind in sorted(by_kind)
        for score in sorted(by_kind[kind], key=lambda s: (-factor(s), s.row))[:_WORST]
        if score.measured != score.predicted
    ]


def whole(kind: str, scores: Sequence[Score], left_out: Iterable[LeftOut]) -> Group:
    """Return the group that stands for a kind."""
    own = [score for score in scores if score.kind == kind]
    headline = [score for score in own if not is_apart(score)]
    missing = Counter(row.kind for row in left_out)[kind]
    return group(kind, headline, left_out=missing, apart=len(own) - len(headline))
