"""The outputs read like others of which the cause is known.

What it checks: texts that were not understood to the end against the casebook
(``doctor/casebook``): how probable each cause is by the cases that read most alike. What the
parsers read whole is for the rules to judge; bundles of many files read like everything; and
what reads most like a sound case, and was half understood, is taken for one.
Why it matters: no list of messages is ever complete, and an empty answer helps nobody.
What to do: nothing by likeness alone; the question of each suspect says what would settle it.
References: the cosine of term weights, and votes of the nearest cases; see the casebook.
"""

from collections.abc import Iterator, Sequence
from statistics import fmean

from weft.doctor.casebook import SOUND, Likeness, casebook
from weft.doctor.causes import known
from weft.doctor.rule import (
    LIKELY_RATIO,
    Facts,
    Finding,
    Rule,
    Severity,
    Suspect,
    Symptom,
    suspected,
)
from weft.observe.facts import Complaint, Evidence, Opening

_MOST_FILES = 12
_SUSPECTS = 3
_LEAST_RATIO = 0.08
_LEAST_LIKENESS = 0.2
"""Of texts that are less like their nearest case the guess is right in a third only."""
_SHOWN_LINES = 3
_UNDERSTOOD_RATIO = 0.95
_HALF = 0.5


def _check(facts: Facts) -> Iterator[Finding]:
    openings = facts.of(Opening)
    complaints = facts.of(Complaint)
    unread = [one for one in openings if one.read_ratio < _UNDERSTOOD_RATIO]
    if not unread or len(openings) > _MOST_FILES:
        return
    found = casebook().alike(_whole(one, complaints) for one in unread)
    likely = [one for one in found if one.cause != SOUND and one.share_ratio >= _LEAST_RATIO]
    if likely and found[0].nearest_ratio >= _LEAST_LIKENESS and not _sound(found, unread):
        yield _finding(likely[:_SUSPECTS], [*_lines(unread), *complaints])


def _sound(found: Sequence[Likeness], texts: Sequence[Opening]) -> bool:
    """Return whether the texts read most like sound ones, and were half understood."""
    read = fmean(one.read_ratio for one in texts)
    return found[0].cause == SOUND and read >= _HALF


def _whole(opening: Opening, complaints: list[Complaint]) -> str:
    """Return how a text begins, and what complains further down in it."""
    file = opening.evidence.file
    later = [one.evidence.text for one in complaints if one.evidence.file == file]
    return "\n".join([opening.text, *later])


def _lines(openings: list[Opening]) -> Iterator[Opening]:
    for one in openings:
        for number, line in enumerate(one.text.split("\n"), start=1):
            yield Opening(line, Evidence(one.evidence.file, number, line.strip()))


def _finding(likely: list[Likeness], lines: list[Opening | Complaint]) -> Finding:
    first = likely[0]
    return suspected(
        (_suspect(one) for one in likely),
        _telling(first, lines),
        message="this reads like outputs of which the cause is known",
        advice="take it for a hint; the questions say what would settle each suspicion",
        symptom=Symptom.WORDS,
        severity=Severity.WARNING if first.share_ratio >= LIKELY_RATIO else Severity.INFO,
    )


def _telling(likely: Likeness, lines: list[Opening | Complaint]) -> list[Opening | Complaint]:
    """Return the lines whose words speak most for a cause, those that say the same once."""
    weights = {line.evidence: likely.weight(line.evidence.text) for line in lines}
    least = max(weights.values()) * _HALF
    best = sorted(lines, key=lambda line: -weights[line.evidence])
    return [line for line in best if weights[line.evidence] >= least][:_SHOWN_LINES]


def _suspect(one: Likeness) -> Suspect:
    cause, case = known()[one.cause], one.cases[0]
    return Suspect(
        cause=one.cause,
        confidence_ratio=one.share_ratio,
        question=f"{cause.question} (as in {case.tool}: {case.shows})",
        next_command=cause.command,
    )


likeness = Rule(causes=tuple(known()), check=_check)
