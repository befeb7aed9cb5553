"""From clues to causes: one formula.

For each place where a clue of a cause is met (a port, a host, a job: the scope of the cause),
posterior odds = prior odds x product of the likelihood ratios of the clues that are met there.
A clue counts once, however often it is met, and a line counts for one clue only.
Causes that rest on the same lines are rivals: at most one of them is right, so the probability
of each is its odds over one plus the odds of all of them (one stands for none of them).
Errors of any program (general causes) are rivals of one another: a healthy host logs several,
so the more kinds of them there are, the less each one says.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import prod
from typing import Final

from weft.doctor.case import Case, Hit
from weft.doctor.cause import Cause, causes
from weft.inventory.entity import INPUT, Entity, kind, within
from weft.inventory.evidence import Evidence

FEWEST_WEIGHT: Final = 6
"""Hints alone, below this weight, make no suspect; what is configured alone makes none."""


@dataclass(slots=True)
class Candidate:
    """One cause at one place, with what points to it."""

    cause: Cause
    entity: Entity
    hits: tuple[Hit, ...]
    odds: float
    probability: float = 0.0
    rivals: list["Candidate"] = field(default_factory=list)

    @property
    def supports(self) -> tuple[Hit, ...]:
        """Return the clues that point to the cause."""
        return tuple(hit for hit in self.hits if hit.clue.weight > 1)

    @property
    def lines(self) -> frozenset[tuple[str, int]]:
        """Return the lines that the cause rests on."""
        return frozenset(
            (line.file, line.line) for hit in self.supports for line in hit.evidence
        )


def candidates(case: Case) -> list[Candidate]:
    """Return every cause that something points to, with its probability."""
    found = [candidate for cause in causes() for candidate in _of_cause(cause, case)]
    for candidate in found:
        candidate.rivals = [
            other for other in found
            if other.cause.name != candidate.cause.name and candidate.lines & other.lines
        ]  # fmt: skip
    general: dict[str, float] = {}
    for candidate in found:
        if candidate.cause.is_general:
            name = candidate.cause.name
            general[name] = max(candidate.odds, general.get(name, 0.0))
    for candidate in found:
        against = dict(general) if candidate.cause.is_general else {}
        against.pop(candidate.cause.name, None)
        for rival in candidate.rivals:
            against[rival.cause.name] = max(rival.odds, against.get(rival.cause.name, 0.0))
        candidate.probability = candidate.odds / (1.0 + candidate.odds + sum(against.values()))
    return found


def _of_cause(cause: Cause, case: Case) -> Iterator[Candidate]:
    hits = [
        hit
        for clue in cause.clues
        for hit in case.inventory.contained(f"the cause {cause.name}", partial(case.hits, clue))
    ]
    symptoms = [hit for hit in hits if not hit.clue.is_configured]
    strong = any(hit.clue.weight >= FEWEST_WEIGHT for hit in hits)
    if not strong or not any(hit.clue.weight > 1 for hit in symptoms):
        return
    placed = [(hit, _scope(hit.entity, cause.scope)) for hit in hits]
    places = dict.fromkeys(
        place
        for hit, place in placed
        if place is not None and hit.clue.weight > 1 and not hit.clue.is_configured
    )
    if not places:
        outer = dict.fromkeys(_outer(hit.entity) for hit in symptoms if hit.clue.weight > 1)
        places = outer
    for place in places:
        mine = [
            hit
            for hit, at in placed
            if at == place
            or ((at is None or hit.clue.is_configured) and near(hit.entity, place))
        ]
        yield Candidate(cause, place, tuple(mine), cause.prior * _ratio(mine))


def _scope(entity: Entity, wanted: str) -> Entity | None:
    """Return the entity of a kind that contains an entity, or None where none does."""
    return next((item for item in within(entity) if item.kind == wanted), None)


def _outer(entity: Entity) -> Entity:
    """Return the host, switch or job of an entity, else the entity."""
    *_, outermost, _ = [entity, *within(entity)]
    return outermost if entity.kind != INPUT else entity


def near(one: Entity, other: Entity) -> bool:
    """Return whether two entities can be of the same place: the same host, or one unknown."""
    mine, its = host(one), host(other)
    return not mine or not its or mine == its


def host(entity: Entity) -> str:
    """Return the host or switch that an entity is on, or an empty text."""
    if entity.kind == INPUT:
        return ""
    first = kind(entity.kind).key[0]
    return entity.key[0] if first in {"host", "switch"} else ""


def _ratio(hits: Sequence[Hit]) -> float:
    """Return the product of likelihood ratios; a clue counts once and so does a line."""
    counted: set[str] = set()
    used: set[tuple[str, int]] = set()
    factors = []
    for hit in sorted(hits, key=lambda hit: -abs(_strength(hit.clue.weight))):
        lines = {(line.file, line.line) for line in hit.evidence}
        key = f"{hit.clue}"
        if key in counted or (lines and lines <= used):
            continue
        counted.add(key)
        used |= lines
        factors.append(hit.clue.weight)
    return prod(factors)


def _strength(weight: float) -> float:
    return weight if weight >= 1 else 1 / max(weight, 1e-9)


def lines_of(hits: Sequence[Hit]) -> tuple[Evidence, ...]:
    """Return the lines of clues, the strongest first, each once."""
    ordered = sorted(hits, key=lambda hit: -hit.clue.weight)
    return tuple(dict.fromkeys(line for hit in ordered for line in hit.evidence))
