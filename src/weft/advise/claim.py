"""Claims of practitioners as data, and the one rule that decides each of them.

A claim is a row of ``claims.toml``: a point of the articles, its text, and statements. A
statement names a quantity (``quantities``), the case that it is about, and the range that the
claim gives for it. The estimate of a quantity has an 80 % band, and its outcome is::

    holds            the whole band lies inside the range
    does not hold    the whole band lies outside
    within error     the band crosses an end of the range

A claim holds when all of its statements do, and holds only for some of them when those do.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from math import floor, inf, isfinite, log10
from typing import Final

from weft.records import table
from weft.results import Estimate

ARTICLES: Final = {
    "K": "InfiniBand vs Ethernet for AI on Kubernetes (Kubernetes Recipes, L. Berton)",
    "P": "InfiniBand vs RoCE v2 for AI training (engineering guide)",
    "C": "RoCE vs InfiniBand for AI Training Clusters: A Practical Comparison (2026-04-10)",
    "L": "InfiniBand vs Ethernet for AI (Lilly Tech Systems, AI Hardware track)",
    "E": "High-Performance Networking for GPU Clusters: InfiniBand vs. Ethernet (EPOKA)",
}
FIGURES: Final = 3
"""Significant figures that a number is printed with, and judged with."""


class Outcome(StrEnum):
    """What the test of a claim, or of one statement, can say."""

    HOLDS = "holds"
    FAILS = "does not hold"
    OPEN = "within error, undecided"
    WHEN = "holds only when"
    UNTESTED = "cannot be tested here"


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimed:
    """The range of a quantity that a claim gives; both ends belong to it."""

    low: float = -inf
    high: float = inf


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One number that a claim gives for one case."""

    quantity: str
    """Name of a function of ``quantities``."""
    label: str
    """The case, as it reads after "holds only when"."""
    claimed: Claimed
    of: Mapping[str, object] = field(default_factory=dict)
    """Arguments of the quantity."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A rule or a claim of the articles, in our own words."""

    name: str
    point: str
    """D1 .. X7, as the list of the articles' content numbers it."""
    articles: tuple[str, ...]
    text: str
    statements: tuple[Statement, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One statement with the number found for it."""

    label: str
    quantity: str
    """What was computed, in words."""
    unit: str
    claimed: Claimed
    found: Estimate | None
    """Rounded to three figures; none where it cannot be computed here."""
    outcome: Outcome
    evidence: str
    """How it was found, or why it cannot be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tested:
    """A claim with its outcome on this case."""

    claim: str
    point: str
    articles: tuple[str, ...]
    text: str
    outcome: Outcome
    condition: str
    """Cases that the outcome is about, where it is not about all: those that it holds for, or
    those that are undecided."""
    findings: tuple[Finding, ...]


def judge(found: Estimate, claimed: Claimed) -> Outcome:
    """Compare a band with a claimed range: the only place that decides.

    >>> judge(Estimate(0.2, 0.15, 0.25), Claimed(low=0.1, high=0.3)).value
    'holds'
    >>> judge(Estimate(0.4, 0.35, 0.5), Claimed(low=0.1, high=0.3)).value
    'does not hold'
    >>> judge(Estimate(0.3, 0.2, 0.4), Claimed(low=0.1, high=0.3)).value
    'within error, undecided'
    """
    if claimed.low <= found.low and found.high <= claimed.high:
        return Outcome.HOLDS
    if found.high < claimed.low or found.low > claimed.high:
        return Outcome.FAILS
    return Outcome.OPEN


def overall(outcomes: Iterable[Outcome]) -> Outcome:
    """Return the outcome of a claim from those of its statements.

    >>> overall([Outcome.HOLDS, Outcome.FAILS]).value
    'holds only when'
    >>> overall([Outcome.OPEN, Outcome.FAILS]).value
    'within error, undecided'
    """
    kinds = set(outcomes) - {Outcome.UNTESTED}
    if not kinds:
        return Outcome.UNTESTED
    if Outcome.HOLDS in kinds:
        return Outcome.HOLDS if len(kinds) == 1 else Outcome.WHEN
    return Outcome.OPEN if Outcome.OPEN in kinds else Outcome.FAILS


def concluded(claim: Claim, findings: tuple[Finding, ...]) -> Tested:
    """Return a claim with its outcome, from its findings alone."""
    outcome = overall(finding.outcome for finding in findings)
    wanted = Outcome.HOLDS if outcome is Outcome.WHEN else outcome
    labels = [finding.label for finding in findings if finding.outcome is wanted]
    return Tested(
        claim=claim.name, point=claim.point, articles=claim.articles, text=claim.text,
        outcome=outcome, findings=findings,
        condition="" if len(labels) == len(findings) else "; ".join(labels),
    )  # fmt: skip


def rounded(found: Estimate) -> Estimate:
    """Round value and band to the figures that are printed, so that both tell the same.

    >>> rounded(Estimate(0.29996, 0.12345, 12345.0))
    Estimate(value=0.3, low=0.123, high=12300.0)
    """
    return Estimate(*(_rounded(value) for value in (found.value, found.low, found.high)))


def _rounded(number: float) -> float:
    if not number or not isfinite(number):
        return number
    return round(number, FIGURES - 1 - floor(log10(abs(number))))


@cache
def claims_of_articles() -> tuple[Claim, ...]:
    """Read every claim."""
    return tuple(
        Claim(
            name=name, point=row["point"], articles=tuple(row["articles"]), text=row["text"],
            statements=tuple(_statement(**statement) for statement in row["statements"]),
        )
        for name, row in table("weft.advise", "claims").items()
    )  # fmt: skip


def _statement(
    *, quantity: str, label: str, low: float = -inf, high: float = inf, **of: object
) -> Statement:
    claimed = Claimed(low=float(low), high=float(high))
    return Statement(quantity=quantity, label=label, claimed=claimed, of=of)
