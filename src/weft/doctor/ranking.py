"""One account of all findings: consequences under their cause, the rest ranked."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from weft.doctor.rule import Finding, Severity

_WEIGHT = {Severity.ERROR: 1.0, Severity.WARNING: 0.6, Severity.INFO: 0.2}
"""How much a severity counts beside confidence when findings are ranked."""


class Verdict(StrEnum):
    """What the evidence says as a whole."""

    QUIET = "quiet"
    FINDINGS = "findings"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """A finding with the findings that follow from it."""

    finding: Finding
    consequences: tuple[Finding, ...] = ()


def rank(found: Iterable[Finding]) -> tuple[Ranked, ...]:
    """Fold consequences under their causes and order the rest, the gravest and surest first."""
    waiting = sorted(_merged(found), key=_weight, reverse=True)
    ranked: list[Ranked] = []
    while waiting:
        first = waiting.pop(0)
        follow = [one for one in waiting if explains(first, one)]
        waiting = [one for one in waiting if one not in follow]
        above = next((place for place, one in enumerate(ranked)
                      if explains(first, one.finding)), None)  # fmt: skip
        if above is not None and first.decided and not ranked[above].finding.decided:
            follow = [ranked[above].finding, *ranked[above].consequences, *follow]
            ranked.pop(above)
        ranked.append(Ranked(finding=first, consequences=tuple(follow)))
    return tuple(sorted(ranked, key=lambda one: -_weight(one.finding)))


def explains(cause: Finding, other: Finding) -> bool:
    """Return whether a decided finding says why there is another."""
    if not cause.decided or cause.cause == other.cause:
        return False
    return other.cause in cause.explains or other.symptom in cause.explains


def verdict(ranked: Iterable[Ranked]) -> Verdict:
    """Return what the findings say as a whole: errors decide it, the rest is advice."""
    errors = [one.finding for one in ranked if one.finding.severity is Severity.ERROR]
    if not errors:
        return Verdict.QUIET
    if any(one.decided for one in errors):
        return Verdict.FINDINGS
    return Verdict.UNDECIDED


def _weight(finding: Finding) -> float:
    # What is decided stands above any suspicion of the same severity.
    return _WEIGHT[finding.severity] * (finding.confidence_ratio + 0.5 * finding.decided)


def _merged(found: Iterable[Finding]) -> list[Finding]:
    """Keep one finding of each cause and subject: the gravest and surest."""
    kept: dict[tuple[str, str], Finding] = {}
    for one in found:
        key = (one.cause, one.subject)
        if key not in kept or _weight(one) > _weight(kept[key]):
            kept[key] = one
    return list(kept.values())
