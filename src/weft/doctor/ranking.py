"""One account of all findings: consequences under their cause, the rest ranked."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

from weft.doctor.rule import Finding, Severity, Symptom
from weft.doctor.shares import share

SURE_RATIO = 0.7
"""From this confidence on a warning counts as a finding by itself."""
_ABOUT_AS_SURE = 0.11
"""A difference of weight that decides nothing between a cause and what follows from it."""
_WORTH_SAYING_RATIO = 0.2
"""From this probability on words speak for another cause beside what a rule says."""
_FIRST = 2
"""So many of the causes of a finding count as said."""
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
    """Fold consequences under their causes and order the rest, the gravest and surest first.

    Confidences of rivals are shared out last (``shares``): they order by what each rule says.
    """
    waiting = sorted(_merged(_read(found)), key=_weight, reverse=True)
    ranked: list[Ranked] = []
    while waiting:
        first = waiting.pop(0)
        follow = [one for one in waiting if explains(first, one)]
        waiting = [one for one in waiting if one not in follow]
        above = next((place for place, one in enumerate(ranked)
                      if explains(first, one.finding)), None)  # fmt: skip
        if above is not None and _takes(first, ranked[above].finding):
            follow = [ranked[above].finding, *ranked[above].consequences, *follow]
            ranked.pop(above)
        ranked.append(Ranked(finding=first, consequences=tuple(follow)))
    ranked.sort(key=lambda one: -_weight(one.finding))
    shared = share([one.finding for one in ranked])
    return tuple(
        replace(one, finding=finding, consequences=share(one.consequences))
        for finding, one in zip(shared, ranked, strict=True)
    )


def _read(found: Iterable[Finding]) -> list[Finding]:
    """Make a remark of what rests on words alone where a rule speaks, or leave it out."""
    seen = list(found)
    ruled = [one for one in seen if one.symptom is not Symptom.WORDS]
    grave = [one for one in ruled if one.severity is not Severity.INFO]
    if not grave:
        return seen
    said = {cause for one in grave for cause in one.causes[:_FIRST]}
    remarks = (_besides(one, said) for one in seen if one.symptom is Symptom.WORDS)
    return [*ruled, *(one for one in remarks if one.suspects)]


def _besides(words: Finding, said: Collection[str]) -> Finding:
    """Return a finding that rests on words with the suspects only that no rule has named."""
    left = tuple(
        one
        for one in words.suspects
        if one.cause not in said and one.confidence_ratio >= _WORTH_SAYING_RATIO
    )
    first = left[0] if left else words.suspects[0]
    return replace(
        words,
        cause=first.cause,
        confidence_ratio=first.confidence_ratio,
        severity=Severity.INFO,
        next_command=first.next_command,
        missing=tuple(one.question for one in left),
        suspects=left,
    )


def _takes(cause: Finding, other: Finding) -> bool:
    """Return whether a finding takes one that stands above it: a guess, or what it names.

    Of two that are about as sure, the one that says whence the other comes is the cause.
    """
    named = other.cause in cause.explains and cause.cause not in other.explains
    near = _weight(other) - _weight(cause) <= _ABOUT_AS_SURE
    return cause.decided and (not other.decided or (named and near))


def explains(cause: Finding, other: Finding) -> bool:
    """Return whether a decided finding says why there is another."""
    if not cause.decided:
        return False
    if cause.cause == other.cause and not other.decided:
        return True
    by_name = other.cause in cause.explains and other.cause != cause.cause
    costs_speed = other.symptom is Symptom.SLOW and cause.fault is not None
    return by_name or costs_speed or other.symptom in cause.explains


def verdict(ranked: Iterable[Ranked]) -> Verdict:
    """Return what the findings say as a whole: errors, or warnings that are sure, decide it."""
    found = [one.finding for one in ranked]
    errors = [one for one in found if one.severity is Severity.ERROR]
    warnings = [one for one in found if one.severity is Severity.WARNING]
    if any(one.decided for one in errors):
        return Verdict.FINDINGS
    if any(one.decided and one.confidence_ratio >= SURE_RATIO for one in warnings):
        return Verdict.FINDINGS
    hints = [one for one in warnings if one.symptom is Symptom.WORDS]
    return Verdict.UNDECIDED if errors or hints else Verdict.QUIET


def _weight(finding: Finding) -> float:
    # What is decided stands above any suspicion of the same severity.
    return _WEIGHT[finding.severity] * (finding.confidence_ratio + 0.5 * finding.decided)


def _merged(found: Iterable[Finding]) -> list[Finding]:
    """Keep one finding of each cause and subject: the gravest and surest."""
    kept: dict[tuple[str, str, bool], Finding] = {}
    for one in found:
        key = (one.cause, one.subject, one.decided)
        if key not in kept or _weight(one) > _weight(kept[key]):
            kept[key] = one
    return list(kept.values())
