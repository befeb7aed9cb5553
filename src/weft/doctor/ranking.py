"""One account of all findings: consequences under their cause, the rest ranked.

Two opinions say how probable a cause is: the rules, and the cases that a text reads like. They
are heard with equal weight (the linear opinion pool, Stone 1961): what is ranked is their sum,
that of a rule the more the graver it is, and where it decides.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from weft.doctor.rule import Finding, Severity, Suspect, Symptom
from weft.doctor.shares import share

SURE_RATIO = 0.7
"""From this confidence on a warning counts as a finding by itself."""
_ABOUT_AS_SURE = 0.11
"""A difference of weight that decides nothing between a cause and what follows from it."""
_WORTH_SAYING_RATIO = 0.2
"""From this probability on words speak for another cause beside what a rule says."""
_FIRST = 2
"""So many of the causes of a finding count as said."""
_MOST_HINTS = 3
"""So many suspects are shown where words alone speak."""
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
    ranked.sort(key=lambda one: -_pooled(one.finding))
    shared = share([one.finding for one in ranked])
    return tuple(
        replace(one, finding=finding, consequences=share(one.consequences))
        for finding, one in zip(shared, ranked, strict=True)
    )


def _read(found: Iterable[Finding]) -> list[Finding]:
    """Note in findings what words say of their causes, and of words what no rule has said."""
    seen = list(found)
    words = [one for one in seen if one.symptom is Symptom.WORDS]
    alike = {one.cause: one.confidence_ratio for each in words for one in each.suspects}
    ruled = [_noted(one, alike) for one in seen if one.symptom is not Symptom.WORDS]
    grave = [one for one in ruled if one.severity is not Severity.INFO]
    said = {cause for one in grave for cause in one.causes[:_FIRST]}
    return [*ruled, *(left for one in words for left in _left(one, said))]


def _noted(finding: Finding, alike: Mapping[str, float]) -> Finding:
    """Return a finding with what the casebook says of each cause in it."""
    if not alike:
        return finding
    return replace(
        finding,
        alike_ratio=alike.get(finding.cause, 0.0),
        suspects=tuple(
            replace(one, alike_ratio=alike.get(one.cause, 0.0)) for one in finding.suspects
        ),
    )


def _left(words: Finding, said: Collection[str]) -> Iterator[Finding]:
    """Yield what words say: all where no rule speaks, else a remark on what none has named."""
    if not said:
        yield replace(words, suspects=words.suspects[:_MOST_HINTS],
                      missing=words.missing[:_MOST_HINTS])  # fmt: skip
        return
    left = tuple(
        one
        for one in words.suspects[:_MOST_HINTS]
        if one.cause not in said and one.confidence_ratio >= _WORTH_SAYING_RATIO
    )
    if left:
        yield replace(
            words,
            cause=left[0].cause,
            confidence_ratio=left[0].confidence_ratio,
            severity=Severity.INFO,
            next_command=left[0].next_command,
            missing=tuple(one.question for one in left),
            suspects=left,
        )


def _takes(cause: Finding, other: Finding) -> bool:
    """Return whether a finding takes one that stands above it: a guess, or what it names.

    Of two that are about as sure, the one that says whence the other comes is the cause.
    """
    whence = other.cause in cause.explains or other.symptom in cause.explains
    named = whence and cause.cause not in other.explains
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


def causes(found: Iterable[Finding]) -> tuple[str, ...]:
    """Return all causes that findings name or suspect, each once, the likeliest first."""
    weights: dict[str, float] = {}
    for one in found:
        claims = {suspect.cause: _pooled_suspect(suspect, one) for suspect in one.suspected}
        if one.decided:
            claims[one.cause] = _pooled(one)
        for cause, weight in claims.items():
            weights[cause] = max(weight, weights.get(cause, 0.0))
    return tuple(sorted(weights, key=lambda cause: -weights[cause]))


def _pooled(finding: Finding) -> float:
    """Return what rules and words together say of a finding."""
    if finding.symptom is Symptom.WORDS:
        return finding.confidence_ratio
    return _weight(finding) + finding.alike_ratio


def _pooled_suspect(suspect: Suspect, finding: Finding) -> float:
    """Return what rules and words together say of a suspect of a finding."""
    if finding.symptom is Symptom.WORDS:
        return suspect.confidence_ratio
    return _WEIGHT[finding.severity] * suspect.confidence_ratio + suspect.alike_ratio


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
