"""A cause as a row: what points to it and how strongly, what it explains, what to do."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from weft.doctor.configurations import PREFIX
from weft.inventory.entity import attribute, kind
from weft.inventory.table import tables

TIERS: Final[Mapping[str, int]] = {"specific": 0, "general": 1, "symptom": 2}
"""A general cause knows what failed and not why; a symptom follows from whatever did."""
PRIORS: Final[Mapping[str, float]] = {"common": 0.1, "uncommon": 0.03, "rare": 0.01}
"""Odds that a troubled input has this cause, before it is read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Clue:
    """What points to a cause, or away from it, and how strongly.

    Exactly one of ``event``, ``deviation``, ``attribute`` and ``predicate`` is given.
    ``weight`` is a likelihood ratio: how much more often this is seen with the cause than
    without it; below 1 it speaks against the cause.
    """

    weight: float
    event: str = ""
    deviation: str = ""
    attribute: str = ""
    predicate: str = ""
    """A function of ``predicates``, for joins that a table cannot say."""
    of: str = ""
    """For an attribute: last field of the key of the entity, as a pattern."""
    values: tuple[Any, ...] = ()
    """For an attribute: the values that count. For an event: none."""
    where: Mapping[str, str] | None = None
    """For an event: patterns that fields of the message must match."""
    least: int = 1
    """For an event: how often it must have happened to one entity."""

    @property
    def is_configured(self) -> bool:
        """Return whether it is a setting or a rule of weft lint: not what happened."""
        return self.event.startswith(PREFIX) or self.attribute == "setting.value"

    @property
    def name(self) -> str:
        """Return what the clue is about, as causes refer to it when they explain it."""
        return self.event or self.deviation or self.attribute or self.predicate


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """One root cause."""

    name: str
    title: str
    scope: str
    prior: float
    clues: tuple[Clue, ...]
    explains: tuple[str, ...]
    """Events, deviations and causes that follow from it."""
    severity: str
    fix: str
    confirm: str
    model: str = ""
    page: str = ""
    tier: int = 0
    """Where it gives way: 0 nowhere, 1 to a cause that says more, 2 to any other cause."""
    benign: bool = False
    """Nothing is wrong: it explains what looks like trouble, and is not shown as a finding."""

    @property
    def is_general(self) -> bool:
        """Return whether it knows what failed and not why."""
        return self.tier == TIERS["general"]


@cache
def causes() -> tuple[Cause, ...]:
    """Return every cause of the tables."""
    found = tables("weft.doctor", "causes")
    return tuple(_cause(row) for table in found.values() for row in table)


def _cause(row: Mapping[str, Any]) -> Cause:
    told = dict(row)
    against = [{"weight": 0.01, **item} for item in told.pop("excludes", ())]
    configured = told.pop("configured", {})
    settings = [{"event": f"{PREFIX}{rule}", "weight": w} for rule, w in configured.items()]
    clues = (*told.pop("supports", ()), *settings, *against)
    scope = told.pop("scope", "input")
    kind(scope)
    return Cause(
        name=told.pop("cause"),
        scope=scope,
        prior=PRIORS[told.pop("prior", "common")],
        clues=tuple(_clue(clue) for clue in clues),
        explains=tuple(told.pop("explains", ())),
        tier=TIERS[told.pop("tier", "specific")],
        severity=told.pop("severity", "error"),
        **told,
    )


def _clue(told: Mapping[str, Any]) -> Clue:
    row = dict(told)
    values = row.pop("is", None)
    listed = values if isinstance(values, list) else [] if values is None else [values]
    for path in (row.get("attribute"), row.get("deviation")):
        if path:
            attribute(path)
    return Clue(values=tuple(listed), **row)
