"""The outputs read like others of which the cause is known.

What it checks: texts that were not understood to the end against the casebook
(``doctor/casebook``): how probable each cause is by the cases that read most alike. What the
parsers read whole is for the rules to judge; bundles of many files read like everything; and
what has most votes for being sound is taken for sound.
Why it matters: no list of messages is ever complete, and an empty answer helps nobody.
What to do: nothing by likeness alone; the question of each suspect says what would settle it.
References: the cosine of term weights, and votes of the nearest cases; see the casebook.
"""

from collections.abc import Iterator
from textwrap import shorten

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
from weft.observe.facts.base import Evidence
from weft.observe.facts.reading import Complaint, Opening

_MOST_FILES = 12
_SUSPECTS = 9
_LEAST_RATIO = 0.05
_LEAST_LIKENESS = 0.2
"""Of texts that are less like their nearest case the guess is right in a third only."""
_SHOWN_LINES = 3
_LONGEST_QUOTE = 90
_READ_RATIO = 0.95
_TELLING_RATIO = 0.5
"""Of the weight of the most telling line, what others must have to be shown."""


def _check(facts: Facts) -> Iterator[Finding]:
    openings = facts.of(Opening)
    if len(openings) > _MOST_FILES or all(one.read_ratio >= _READ_RATIO for one in openings):
        return
    complaints = facts.of(Complaint)
    found = casebook().alike([_whole(one, complaints) for one in openings])
    sound = sum(one.share_ratio for one in found if one.cause == SOUND)
    likely = [one for one in found if one.cause != SOUND and one.share_ratio >= _LEAST_RATIO]
    near = max((one.nearest_ratio for one in found), default=0.0)
    if likely and sound < LIKELY_RATIO and near >= _LEAST_LIKENESS:
        yield _finding(likely[:_SUSPECTS], [*_lines(openings), *complaints])


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
    least = max(weights.values()) * _TELLING_RATIO
    best = sorted(lines, key=lambda line: -weights[line.evidence])
    return [line for line in best if weights[line.evidence] >= least][:_SHOWN_LINES]


def _suspect(one: Likeness) -> Suspect:
    cause = known()[one.cause]
    return Suspect(
        cause=one.cause,
        confidence_ratio=one.share_ratio,
        question=f'{cause.question} (as in "{_told(one)}")',
        next_command=cause.command,
    )


def _told(one: Likeness) -> str:
    """Return the line of the nearest case that speaks most for its cause."""
    lines = (line for _, text in one.cases[0].files for line in text.split("\n"))
    return shorten(max(lines, key=one.weight), _LONGEST_QUOTE, placeholder=" ...")


likeness = Rule(causes=tuple(known()), check=_check)
