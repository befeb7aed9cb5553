"""What an expectation and a deviation are."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from weft.inventory.entity import Entity, attribute
from weft.inventory.evidence import Evidence
from weft.inventory.shown import shown
from weft.inventory.table import tables
from weft.inventory.values import Value


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """One row: what an attribute should be, and how far it may be from it.

    ``compare`` is at_least, at_most, equal, not or alike; ``sources`` are asked in order, and
    the first that knows answers. ``tolerance`` is a share of what is expected.
    """

    attribute: str
    compare: str
    sources: Mapping[str, Any]
    tolerance: float = 0.0
    when: Mapping[str, Any] = field(default_factory=dict)
    """Attributes of the entity or of what contains it, and the value each must have."""
    unless: Mapping[str, Any] = field(default_factory=dict)
    """As ``when``: an entity that has one of these values is not compared."""
    severity: str = "warning"
    unsure: bool = False
    """Whether a deviation can be shown, and not judged."""
    probability_ratio: float | None = None
    """How probable a deviation is a problem, where that does not follow from its source."""
    about: str = ""
    fix: str = ""
    confirm: str = ""
    model: str = ""
    """The change of the cluster whose cost the model knows: link_narrow, gpudirect_off, ..."""

    @property
    def kind(self) -> str:
        """Return the kind of entity that the attribute is of."""
        return self.attribute.partition(".")[0]

    @property
    def name(self) -> str:
        """Return the attribute without its kind."""
        return self.attribute.partition(".")[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """A value that was expected of one entity, and who says so."""

    value: Value
    source: str
    """declared, configured, modelled, rated, capable, peers or standard."""
    basis: str
    evidence: tuple[Evidence, ...] = ()
    """The lines that say so, where there are any."""
    tolerance: float | None = None
    severity: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deviation:
    """An attribute that is not as it should be."""

    expectation: Expectation
    entity: Entity
    observed: Value
    expected: Expected
    severity: str
    evidence: tuple[Evidence, ...]

    @property
    def attribute(self) -> str:
        """Return the attribute as ``kind.name``."""
        return self.expectation.attribute

    @property
    def left_ratio(self) -> float:
        """Return what is left of what was expected, 1 where they are no quantities.

        Of a limit on a share that is lost, as of the time paused, the rest is left.
        """
        wanted, seen = self.expected.value, self.observed
        if isinstance(wanted, bool) or isinstance(seen, bool):
            return 1.0
        if isinstance(wanted, int | float) and isinstance(seen, int | float) and wanted:
            if self.expectation.compare != "at_most":
                return float(seen / wanted)
            is_share = attribute(self.attribute).unit == "ratio"
            return 1 - float(seen) if is_share else float(wanted / seen)
        return 1.0

    @property
    def short(self) -> str:
        """Return what differs, without of what and why."""
        about = attribute(self.attribute).about.partition(" (")[0]
        seen = f"{about} is {self.shown(self.observed)}"
        if self.expectation.compare == "not":
            return seen
        bound = {"at_least": "at least ", "at_most": "at most "}
        wanted = bound.get(self.expectation.compare, "") + self.shown(self.expected.value)
        return f"{seen}, expected {wanted}"

    @property
    def text(self) -> str:
        """Return the deviation as one sentence."""
        return f"{self.entity}: {self.short} ({self.expected.basis})"

    def shown(self, value: Value) -> str:
        """Return a value of the attribute as text."""
        return shown(self.attribute, value)


@cache
def expectations() -> tuple[Expectation, ...]:
    """Return every expectation of the tables."""
    found = tables("weft.expectations", "tables")
    return tuple(_expectation(row) for table in found.values() for row in table)


def _expectation(row: Mapping[str, Any]) -> Expectation:
    attribute(row["attribute"])
    return Expectation(**row)
