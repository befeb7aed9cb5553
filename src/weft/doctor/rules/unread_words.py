"""A line that no parser knows names a thing of the fabric and says it is in trouble.

What it checks: lines that no parser understood and that complain in plain words, and messages
of known programs that are no other fact. Each is held against the senses of
``doctor/senses.toml``: a thing (a subnet manager, a device node, locked memory) and a sort of
trouble (missing, denied, exhausted). It counts only where no other rule names a cause.
Why it matters: no list of messages is ever complete, and an empty answer helps nobody.
What to do: read the lines first; the questions say what would settle each suspicion.
References: the senses are drawn from the causes of the other rules.
"""

from collections import Counter
from collections.abc import Iterator

from weft.doctor.rule import (
    Facts,
    Finding,
    Rule,
    Severity,
    Suspect,
    Symptom,
    finding,
    suspected,
)
from weft.doctor.senses import Sense, causes, sense_of
from weft.observe.complaints import troubles
from weft.observe.facts import ClusterEvent, Complaint, Message

_SURE_RATIO = 0.55
_LIKELY_RATIOS = (0.35, 0.2, 0.1)


def _check(facts: Facts) -> Iterator[Finding]:
    heard: dict[Sense, list[Complaint]] = {}
    for complaint in _complaints(facts):
        sense = sense_of(complaint)
        if sense:
            heard.setdefault(sense, []).append(complaint)
    plain = [sense for sense, lines in heard.items() if any(map(sense.leaves_no_doubt, lines))]
    if plain:
        yield _named(plain[0], heard[plain[0]])
    elif heard:
        counted = Counter({sense: len(lines) for sense, lines in heard.items()})
        likeliest = [sense for sense, _ in counted.most_common(len(_LIKELY_RATIOS))]
        yield _hinted(likeliest, [line for sense in likeliest for line in heard[sense][:2]])


def _complaints(facts: Facts) -> Iterator[Complaint]:
    """Return what complains: lines nobody read, and messages that state nothing else."""
    yield from facts.of(Complaint)
    said = [one for one in facts.of(Message) if one.level in {"error", "warning"}]
    events = [one for one in facts.of(ClusterEvent) if one.warning]
    for line in (*(one.evidence for one in said), *(one.evidence for one in events)):
        yield Complaint(troubles(line.text), line)


def _named(sense: Sense, lines: list[Complaint]) -> Finding:
    return finding(
        sense.cause,
        lines,
        _SURE_RATIO,
        message="a line of no known tool says so in plain words",
        advice="read the line; the question says what would settle it",
        next_command=sense.command,
        missing=(sense.question,),
        symptom=Symptom.WORDS,
        severity=Severity.WARNING,
    )


def _hinted(likeliest: list[Sense], lines: list[Complaint]) -> Finding:
    return suspected(
        (
            Suspect(
                cause=sense.cause,
                confidence_ratio=sure,
                question=sense.question,
                next_command=sense.command,
            )
            for sense, sure in zip(likeliest, _LIKELY_RATIOS, strict=False)
        ),
        lines,
        message="a line that is not understood says that something is in trouble",
        advice="read these lines first; the questions say what would settle each suspicion",
        symptom=Symptom.WORDS,
        severity=Severity.WARNING,
    )


unread_words = Rule(causes=causes(), check=_check)
