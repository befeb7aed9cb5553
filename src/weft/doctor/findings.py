"""Findings: causes where they hold, what follows from them, and what nothing explains."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Final

from weft.doctor.case import Case, Hit
from weft.doctor.configurations import PREFIX, configured
from weft.doctor.cost import Fault, Price
from weft.doctor.infer import Candidate, host, lines_of, near
from weft.expectations.expectation import Deviation
from weft.inventory.entity import INPUT, Entity
from weft.inventory.evidence import Evidence
from weft.inventory.inventory import Event
from weft.inventory.severity import Severity

NAMED_RATIO: Final = 0.5
"""From this probability on a cause is named; below it is a suspect."""
SHOWN_RATIO: Final = 0.05
"""Below this probability a cause is not mentioned."""
HIGH_RATIO: Final = 0.85
MEDIUM_RATIO: Final = 0.6
CLOSE: Final = 3.0
"""Rivals whose odds are within this factor are shown together."""
_WEIGHT: Final = {"error": 1.0, "warning": 0.6, "info": 0.2}
_UNEXPLAINED_RATIO: Final = 0.4
"""How probable an error that nothing accounts for is a problem of the cluster, or what a rule
of weft lint warns of without a symptom."""
_LONGEST_LINE: Final = 120
_WITH_RANKS: Final = frozenset(("process", "job", "host"))
_OTHERS: Final = ("server", "target", "peer", "member", "resource", "area")
"""Fields of a message that name what is at the other end."""
_STOP: Final = Fault.STOP.name.lower()
"""What ends a job does not slow it."""
_BY_ITSELF_RATIO: Final = {
    "declared": 0.9,
    "configured": 0.9,
    "modelled": 0.7,
    "rated": 0.7,
    "peers": 0.75,
    "standard": 0.75,
    "capable": 0.85,
}
"""How probable a deviation is a problem of its own, by where its expectation comes from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rival:
    """Another cause of the same evidence, and the command that separates the two."""

    cause: str
    probability_ratio: float
    confirm: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that is wrong, or may be."""

    cause: str
    title: str
    severity: Severity
    probability_ratio: float
    """That this is the cause."""
    entities: tuple[str, ...]
    evidence: tuple[Evidence, ...]
    detail: str = ""
    """What its strongest clue says: a message, or a value and what was expected."""
    fix: str = ""
    confirm: str = ""
    rivals: tuple[Rival, ...] = ()
    rivals_ratio: float = 0.0
    """That a rival as severe is the cause instead of a state that is wrong in both cases."""
    consequences: tuple[str, ...] = ()
    deviations: tuple[str, ...] = ()
    model: str = ""
    left_ratio: float = 1.0
    price: Price | None = None
    page: str = ""

    @property
    def told(self) -> str:
        """Return the title with its detail."""
        return f"{self.title} ({self.detail})" if self.detail else self.title

    @property
    def confidence(self) -> str:
        """Return high, medium or low, as the report says it."""
        if self.probability_ratio >= HIGH_RATIO:
            return "high"
        return "medium" if self.probability_ratio >= MEDIUM_RATIO else "low"

    @property
    def weight(self) -> float:
        """Return what findings are ordered by: severity times probability."""
        return _WEIGHT[self.severity] * self.probability_ratio


def findings(case: Case, found: Sequence[Candidate]) -> list[Finding]:
    """Return what is wrong, the most severe and most probable first."""
    shown = [candidate for candidate in found if candidate.probability >= SHOWN_RATIO]
    kept, follow = _folded(shown)
    explained = _explained(shown)
    causes = list(
        _grouped([candidate for candidate in kept if not candidate.cause.benign], follow, case)
    )
    rest = [
        *_deviations(case, explained),
        *_configured(case, shown),
        *_unexplained(case, explained, shown),
    ]
    return sorted(_with_effects([*causes, *rest], case), key=lambda finding: -finding.weight)


def _with_effects(found: Sequence[Finding], case: Case) -> list[Finding]:
    """Return the findings, a slow result below the likeliest one that the model says slows it.

    A result that misses what the model expects is an effect; where something is found that the
    same model prices, that is the reason, as severe as its effect.
    """
    effects = [finding for finding in found if _is_effect(finding, case)]
    reasons = [
        finding for finding in found if finding.model not in {"", _STOP}
        and finding.probability_ratio >= NAMED_RATIO and finding not in effects
    ]  # fmt: skip
    if not (effects and reasons):
        return list(found)
    reason = max(reasons, key=lambda reason: reason.weight)
    severity = max(
        (reason.severity, *(effect.severity for effect in effects)), key=_WEIGHT.__getitem__
    )
    names = (effect.cause for effect in effects)
    told = replace(
        reason,
        severity=severity,
        consequences=tuple(dict.fromkeys((*reason.consequences, *names))),
        deviations=(
            *reason.deviations,
            *(text for effect in effects for text in effect.deviations),
        ),
    )
    return [
        told if finding is reason else finding for finding in found if finding not in effects
    ]


def _is_effect(one: Finding, case: Case) -> bool:
    """Return whether a finding is a deviation from what the model expects of a result."""
    deviations = case.deviations.get(one.cause, ())
    return bool(deviations) and all(d.expected.source == "modelled" for d in deviations)


def _folded(shown: Sequence[Candidate]) -> tuple[list[Candidate], dict[int, list[str]]]:
    """Fold causes that follow from another likely one; return the rest and what follows.

    Of two that explain each other the less probable one follows.
    """
    ordered = sorted(shown, key=lambda candidate: -candidate.probability)
    above: dict[int, Candidate] = {}
    for place, candidate in enumerate(ordered):
        rarer = [other for other in ordered[place + 1 :] if not _explains(candidate, other)]
        others = (*ordered[:place], *rarer)
        found = next((other for other in others if _explains(other, candidate)), None)
        if found is not None and not _follows(found, candidate, above):
            above[id(candidate)] = found
    follow: dict[int, list[str]] = {}
    for candidate in ordered:
        if id(candidate) in above:
            first = _first(candidate, above)
            follow.setdefault(id(first), []).append(candidate.cause.name)
    return [candidate for candidate in ordered if id(candidate) not in above], follow


def _first(candidate: Candidate, above: Mapping[int, Candidate]) -> Candidate:
    """Return the cause at the start of a chain of consequences."""
    while id(candidate) in above:
        candidate = above[id(candidate)]
    return candidate


def _follows(candidate: Candidate, other: Candidate, above: Mapping[int, Candidate]) -> bool:
    """Return whether one cause follows from another."""
    while id(candidate) in above:
        candidate = above[id(candidate)]
        if candidate is other:
            return True
    return False


def _explains(cause: Candidate, other: Candidate) -> bool:
    """Return whether a cause that is likely explains another, at the same place."""
    if cause.cause is other.cause or cause.probability < NAMED_RATIO:
        return False
    if not near(cause.entity, other.entity):
        return False
    known = cause.cause.explains
    by_name = other.cause.name in known or _says_more(cause, other)
    return by_name or all(hit.clue.name in known for hit in other.supports)


def _says_more(cause: Candidate, other: Candidate) -> bool:
    """Return whether a cause as severe on the same host makes a general one needless."""
    return (
        other.cause.tier > cause.cause.tier
        and host(cause.entity) == host(other.entity)
        and _WEIGHT[cause.cause.severity] >= _WEIGHT[other.cause.severity]
    )


def _explained(shown: Iterable[Candidate]) -> set[tuple[str, str]]:
    """Return the events and deviations that a cause accounts for, each with its host."""
    return {
        (name, host(hit.entity))
        for candidate in shown
        for hit in candidate.supports
        for name in (hit.clue.name, *candidate.cause.explains)
    }


def _grouped(
    kept: Sequence[Candidate], follow: dict[int, list[str]], case: Case
) -> Iterator[Finding]:
    """Yield one finding a cause, with all the places where it holds."""
    groups: dict[str, list[Candidate]] = {}
    for candidate in kept:
        groups.setdefault(candidate.cause.name, []).append(candidate)
    for same in groups.values():
        same.sort(key=lambda candidate: -candidate.probability)
        sure = [
            candidate
            for candidate in same
            if candidate.probability >= same[0].probability / CLOSE
        ]
        yield _finding(sure, follow, case)


def _finding(same: Sequence[Candidate], follow: dict[int, list[str]], case: Case) -> Finding:
    first = same[0]
    entities = tuple(dict.fromkeys(candidate.entity for candidate in same))
    texts = dict.fromkeys(
        hit.text for candidate in same for hit in candidate.supports if hit.text
    )
    hits = [hit for candidate in same for hit in candidate.supports]
    names = _names(entities, hits)
    title = _titled(first.cause.title, entities, hits)
    return Finding(
        cause=first.cause.name,
        title=title,
        severity=Severity(first.cause.severity),
        probability_ratio=first.probability,
        entities=tuple(names),
        evidence=lines_of(hits),
        detail=_detail(title, names, hits),
        fix=folded([hit.fix for hit in hits if hit.fix])
        or _filled(first.cause.fix, entities, hits),
        confirm=_filled(first.cause.confirm, entities, hits),
        rivals=tuple(_rivals(first)),
        rivals_ratio=_rivals_ratio(first),
        consequences=tuple(
            dict.fromkeys(n for candidate in same for n in follow.get(id(candidate), ()))
        ),
        deviations=tuple(texts),
        model=first.cause.model,
        left_ratio=_left(hits, case),
        page=first.cause.page,
    )


def _titled(template: str, entities: Sequence[Entity], hits: Sequence[Hit]) -> str:
    """Return what is wrong, and where."""
    known = [entity for entity in entities if entity.kind == INPUT or any(entity.key)]
    names = _names(known, hits) if known else []
    title = _filled(template, entities, hits)
    return f"{title}: {folded(names)}" if "{" not in template and names else title


def _detail(title: str, names: Sequence[str], hits: Sequence[Hit]) -> str:
    """Return what the strongest clue says, in a few words."""
    ordered = sorted(hits, key=lambda hit: -hit.clue.weight)
    strongest = next((hit for hit in ordered if hit.detail), None)
    if strongest is None:
        return ""
    detail = _shortened(strongest.detail)
    other = [said for name in _OTHERS if (said := strongest.fields.get(name, ""))]
    absent = "".join(f"{said}: " for said in other if said not in f"{title} {detail}")
    first = "first: " if len(names) > 1 else ""
    return f"{first}{absent}{detail}"


def _names(entities: Sequence[Entity], hits: Sequence[Hit]) -> list[str]:
    """Return the names of the places of a finding, with the rank that logged it."""
    ranks: dict[Entity, str] = {}
    for hit in hits:
        if hit.entity.kind in _WITH_RANKS and hit.fields.get("rank"):
            ranks.setdefault(hit.entity, f"rank {hit.fields['rank']}")
    named = _named(entities, hits)
    unnamed = [] if named else list(dict.fromkeys(ranks.values()))
    return [
        f"{ranks[entity]}, {entity}" if entity in ranks else str(entity) for entity in named
    ] + unnamed


def _named(entities: Sequence[Entity], hits: Sequence[Hit]) -> tuple[Entity, ...]:
    """Return the places of a finding; of one of the whole input, what its clues are about."""
    about = dict.fromkeys(hit.entity for hit in hits if any(hit.entity.key))
    if any(any(entity.key) for entity in entities) or not about:
        return tuple(entity for entity in entities if entity.kind != INPUT)
    return tuple(about)


def _left(hits: Sequence[Hit], case: Case) -> float:
    """Return how much of what was expected is left, at the worst place."""
    ratios = [
        deviation.left_ratio
        for hit in hits if hit.clue.deviation
        for deviation in case.deviations.get(hit.clue.deviation, ())
        if deviation.entity == hit.entity
    ]  # fmt: skip
    return min(ratios, default=1.0)


def _rivals(one: Candidate) -> Iterator[Rival]:
    close = sorted(one.rivals, key=lambda rival: -rival.probability)
    seen: set[str] = set()
    for rival in close:
        if rival.cause.name not in seen and rival.probability * CLOSE >= one.probability:
            seen.add(rival.cause.name)
            yield Rival(
                cause=rival.cause.name,
                probability_ratio=rival.probability,
                confirm=_filled(rival.cause.confirm, (rival.entity,), rival.hits),
            )


def _rivals_ratio(one: Candidate) -> float:
    """Return how probable it is that a rival as severe is right: at most one of them is.

    Of a state that was read something is wrong either way. Messages alone tell that a job
    failed, not that the cluster did.
    """
    if all(hit.clue.event for hit in one.supports):
        return 0.0
    least = _WEIGHT[one.cause.severity]
    of_each: dict[str, float] = {}
    for rival in one.rivals:
        if not rival.cause.benign and _WEIGHT[rival.cause.severity] >= least:
            name = rival.cause.name
            of_each[name] = max(rival.probability, of_each.get(name, 0.0))
    return min(sum(of_each.values()), 1.0 - one.probability)


def _deviations(case: Case, explained: set[tuple[str, str]]) -> Iterator[Finding]:
    """Yield deviations that no cause accounts for, one finding an attribute and complaint."""
    for name, found in case.deviations.items():
        left = [
            deviation
            for deviation in found
            if not _accounted(name, host(deviation.entity), explained)
        ]
        for _, same in groupby(left, key=lambda item: item.expectation.about):
            yield _of_deviations(name, list(same))


def _accounted(name: str, place: str, explained: set[tuple[str, str]]) -> bool:
    """Return whether a cause accounts for a deviation: of a job, a cause on any host does."""
    if place:
        return (name, place) in explained
    return any(name == known for known, _ in explained)


def _of_deviations(name: str, found: Sequence[Deviation]) -> Finding:
    worst = min(found, key=lambda item: abs(item.left_ratio))
    row = worst.expectation
    entities = tuple(deviation.entity for deviation in found)
    return Finding(
        cause=name,
        title=f"{row.about}: {worst.text}"
        if len(found) == 1
        else (f"{row.about} ({len(found)} of them; the largest: {worst.text})"),
        severity=Severity(worst.severity),
        probability_ratio=_by_itself(worst),
        entities=tuple(str(entity) for entity in entities),
        evidence=tuple(line for deviation in found for line in deviation.evidence),
        fix=_filled(row.fix, entities, ()),
        confirm=_filled(row.confirm, (worst.entity,), ()),
        deviations=tuple(deviation.text for deviation in found),
        model=row.model,
        left_ratio=worst.left_ratio,
    )


def _configured(case: Case, shown: Iterable[Candidate]) -> Iterator[Finding]:
    """Yield what is wrong in configurations and is no clue of a likely cause, by the rule."""
    used = {
        (hit.clue.event, hit.entity)
        for candidate in shown
        if candidate.probability >= NAMED_RATIO
        for hit in candidate.supports
    }
    for code, events in case.events.items():
        left = [event for event in events if (code, event.entity) not in used]
        if code.startswith(PREFIX) and left:
            yield _of_rule(code, left)


def _of_rule(code: str, events: Sequence[Event]) -> Finding:
    """Return the finding of one rule of weft lint, its gravest place first."""
    ordered = sorted(events, key=lambda event: -_WEIGHT[event.severity])
    first = ordered[0]
    entities = tuple(str(event.entity) for event in ordered if any(event.entity.key))
    about = first.fields["about"].removesuffix(".")
    alone = len(ordered) == first.count == 1
    return Finding(
        cause=code,
        title=f"{about}: {first.fields['message'] if alone else folded(entities)}".rstrip(": "),
        severity=Severity(first.severity),
        probability_ratio=_BY_ITSELF_RATIO["configured"]
        if first.severity == "error"
        else _UNEXPLAINED_RATIO,
        entities=entities,
        evidence=tuple(line for event in ordered for line in event.evidence),
        fix=folded([configured(event)[1] for event in ordered]),
        confirm=f"weft lint {first.evidence[0].file}",
        deviations=tuple(configured(event)[0] for event in ordered),
    )


def _by_itself(one: Deviation) -> float:
    """Return how probable a deviation that no cause accounts for is a problem."""
    row = one.expectation
    if row.probability_ratio is not None:
        return row.probability_ratio
    return _UNEXPLAINED_RATIO if row.unsure else _BY_ITSELF_RATIO[one.expected.source]


def _unexplained(
    case: Case, explained: set[tuple[str, str]], shown: Iterable[Candidate]
) -> Iterator[Finding]:
    """Yield errors that were logged and that no cause accounts for; a line counts once."""
    seen = {line for candidate in shown for hit in candidate.supports for line in hit.evidence}
    for code, events in case.events.items():
        left = [
            event for event in events
            if event.severity == "error" and (code, host(event.entity)) not in explained
            and not code.startswith(PREFIX) and not seen.issuperset(event.evidence)
        ]  # fmt: skip
        seen.update(line for event in left for line in event.evidence)
        if left:
            yield _of_events(code, left)


def _of_events(code: str, events: Sequence[Event]) -> Finding:
    line = " ".join(events[0].evidence[0].text.split())
    return Finding(
        cause=f"unexplained: {code}",
        title=f"An error that no known cause accounts for: {_clipped(line)}",
        severity=Severity.WARNING,
        probability_ratio=_UNEXPLAINED_RATIO,
        entities=tuple(str(event.entity) for event in events if event.entity.kind != INPUT),
        evidence=tuple(line for event in events for line in event.evidence),
    )


def _clipped(line: str) -> str:
    """Return a line of a log, at most two lines of the report long."""
    return line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]} ..."


def _shortened(message: str) -> str:
    """Return a message that is not longer than two lines: its begin and its end.

    Messages that hold one another end with what happened first.
    """
    if len(message) <= _LONGEST_LINE:
        return message
    head, tail = _LONGEST_LINE // 2, _LONGEST_LINE // 2 - len(" ... ")
    return f"{message[:head].rstrip()} ... {message[-tail:].lstrip()}"


def _filled(template: str, entities: Sequence[Entity], hits: Sequence[Hit]) -> str:
    """Return a text of a table with the names of the entities that it is about."""
    if "{" not in template:
        return template
    names = _names(entities, hits)
    if not names:
        template = template.removesuffix(": {entities}")
    fields: dict[str, str] = {"entities": folded(names) or "the hosts that were read"}
    for entity in (*entities, *(hit.entity for hit in hits)):
        if entity.kind != INPUT:
            for name, said in entity.fields.items():
                fields.setdefault(name, said)
    for hit in hits:
        for name, said in hit.fields.items():
            fields.setdefault(name, said)
    fields["hosts"] = (
        folded([host(entity) for entity in entities if host(entity)]) or "the host"
    )
    return template.format_map(_Missing(fields))


class _Missing(dict[str, str]):
    """Fields of a template; one that is not known stands for itself."""

    def __missing__(self, key: str) -> str:
        return key.upper()


def folded(names: Sequence[str], most: int = 3) -> str:
    """Return names as a reader wants them: few, and how many more there are.

    >>> folded(["a", "b", "c", "d", "e"])
    'a, b, c and 2 more'
    """
    listed = list(dict.fromkeys(names))
    more = f" and {len(listed) - most} more" if len(listed) > most else ""
    return ", ".join(listed[:most]) + more
