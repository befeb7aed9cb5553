"""The inventory: what was read of each entity, what happened to it, and where that stands."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, TypeVar

from weft.inventory.entity import INPUT, Entity, within
from weft.inventory.evidence import LONGEST_TEXT, Evidence
from weft.inventory.values import Value

MOST_READINGS: Final = 16
"""Different values of one attribute of one entity that are kept; more say nothing new."""
MOST_LINES: Final = 4
"""Lines kept as evidence of one event."""
_FRONT: Final = 24
"""Characters that tell one counter of an output from another."""
_DIGITS: Final = re.compile(r"[0-9]+")
ALL_FILES: Final = "all files together"
T = TypeVar("T")
EVERYTHING: Final = Entity(INPUT, ())


@dataclass(slots=True)
class Reading:
    """One value of one attribute, as often as it was read in a row."""

    value: Value
    evidence: Evidence
    time_s: float | None = None
    count: int = 1


@dataclass(frozen=True)
class Setting:
    """One value of one attribute that a configuration sets."""

    value: Value
    locate: Callable[[], Evidence]

    @cached_property
    def evidence(self) -> Evidence:
        """Return the line that sets it; to find one in a document takes a walk through it."""
        return self.locate()


@dataclass(slots=True)
class Event:
    """Something that happened to an entity: a message that was logged, once or often."""

    code: str
    entity: Entity
    severity: str
    fields: Mapping[str, str]
    evidence: list[Evidence]
    first_s: float | None = None
    last_s: float | None = None
    count: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRead:
    """What became of one file."""

    file: str
    lines: int = 0
    matched: int = 0
    formats: tuple[str, ...] = ()
    skipped: str = ""
    """Why it was not read, if it was not."""
    notes: tuple[str, ...] = ()
    """What could not be read of it, and why: readers that failed, bounds that it exceeded."""
    unread: tuple[Evidence, ...] = ()
    """First lines that look like trouble and that no reader knows."""


@dataclass(slots=True)
class Inventory:
    """Everything observed, by entity."""

    readings: dict[Entity, dict[str, list[Reading]]] = field(default_factory=dict)
    configured: dict[Entity, dict[str, list[Setting]]] = field(default_factory=dict)
    """What configurations set, which is not what is; no host in a key: every host."""
    events: dict[tuple[str, Entity], Event] = field(default_factory=dict)
    files: list[FileRead] = field(default_factory=list)
    samples: dict[str, float] = field(default_factory=dict)
    """When each output that was read several times was read first, by its name."""
    fields: int = 0
    """Values of outputs that no reader knows."""
    shapes: int = 0
    """Kinds of lines of outputs that no reader knows."""
    _by_kind: dict[str, dict[Entity, dict[str, list[Reading]]]] = field(default_factory=dict)
    """The readings again, by the kind of their entity: each expectation is of one kind."""

    def record(
        self,
        entity: Entity,
        name: str,
        value: Value,
        evidence: Evidence,
        time_s: float | None = None,
    ) -> None:
        """Add one reading of an attribute; what a like line repeats is counted, not kept."""
        known = self._attributes(entity).setdefault(name, [])
        if known and _is_repeated(known[-1], value, evidence, time_s):
            known[-1].count += 1
        elif len(known) < MOST_READINGS:
            known.append(Reading(value, evidence, time_s))
        else:
            known[-1] = Reading(value, evidence, time_s)

    def configure(self, entity: Entity, name: str, setting: Setting) -> None:
        """Add what a configuration sets of an attribute; equal values count once."""
        known = self.configured.setdefault(entity, {}).setdefault(name, [])
        if all(item.value != setting.value for item in known) and len(known) < MOST_READINGS:
            known.append(setting)

    def happened(self, event: Event) -> None:
        """Add one event; the same event of the same entity is counted."""
        known = self.events.setdefault((event.code, event.entity), event)
        if known is event:
            return
        known.count += 1
        known.last_s = event.last_s if event.last_s is not None else known.last_s
        if len(known.evidence) < MOST_LINES:
            known.evidence.extend(event.evidence)

    def of(self, kind: str) -> Iterator[tuple[Entity, dict[str, list[Reading]]]]:
        """Yield the entities of a kind with their attributes, in the order they were read."""
        return iter(self._by_kind.get(kind, {}).items())

    def _attributes(self, entity: Entity) -> dict[str, list[Reading]]:
        """Return what is kept of the attributes of an entity, to add to."""
        known = self._by_kind.setdefault(entity.kind, {})
        if entity not in known:
            known[entity] = self.readings.setdefault(entity, {})
        return known[entity]

    def of_both(
        self, kind: str
    ) -> Iterator[tuple[Entity, Mapping[str, Sequence[Reading | Setting]]]]:
        """Yield the entities of a kind with what was read of them, then what is set of them."""
        yield from self.of(kind)
        yield from (
            (entity, found) for entity, found in self.configured.items() if entity.kind == kind
        )

    def all(self, entity: Entity, name: str) -> list[Reading]:
        """Return every reading of an attribute of an entity, in the order they were read."""
        return self.readings.get(entity, {}).get(name, [])

    def reading(self, entity: Entity, name: str) -> Reading | None:
        """Return the last reading of an attribute of an entity, if there is one."""
        known = self.all(entity, name)
        return known[-1] if known else None

    def value(self, entity: Entity, name: str) -> Value | None:
        """Return the last value of an attribute of an entity, if there is one."""
        known = self.reading(entity, name)
        return known.value if known else None

    def nearest(self, entity: Entity, path: str) -> Reading | None:
        """Return the last reading of ``kind.attribute`` of the entity or its container."""
        wanted, _, name = path.partition(".")
        for outer in within(entity):
            if outer.kind == wanted:
                return self.reading(outer, name)
        return None

    def coded(self, code: str) -> Iterator[Event]:
        """Yield the events of a code."""
        return (event for (known, _), event in self.events.items() if known == code)

    def increase(self, entity: Entity, name: str) -> float | None:
        """Return by how much a counter grew between two readings, whichever was read first.

        Several counters of a tool may be one attribute: each line is compared with its like.
        """
        known = [
            reading
            for reading in self.all(entity, name)
            if isinstance(reading.value, int | float)
        ]
        if len(known) < 2:  # noqa: PLR2004 - first and last
            return None
        later = known[0].time_s != known[-1].time_s
        if later and len({reading.value for reading in known}) == 1:
            return 0.0
        lines: dict[str, list[float]] = {}
        for reading in known:
            line = _DIGITS.sub("#", reading.evidence.text)
            lines.setdefault(line, []).append(float(reading.value))  # type: ignore[arg-type]
        pairs = [each for each in lines.values() if len(each) > 1]
        if not pairs and later:
            pairs = [[float(reading.value) for reading in known]]  # type: ignore[arg-type]
        return max((abs(each[-1] - each[0]) for each in pairs), default=None)

    def rename_host(self, old: str, new: str) -> None:
        """Give entities of one host the name of another: it was learnt late."""
        self._by_kind, self.readings, moved = {}, {}, self.readings
        for entity, found in moved.items():
            mine = self._attributes(_renamed(entity, old, new))
            for name, known in found.items():
                mine.setdefault(name, []).extend(known)
        self.events, events = {}, self.events
        for (code, entity), event in events.items():
            event.entity = _renamed(entity, old, new)
            there = self.events.setdefault((code, event.entity), event)
            if there is not event:
                there.count += event.count
                there.evidence.extend(event.evidence[: MOST_LINES - len(there.evidence)])

    def contained(self, what: str, found: Callable[[], Iterable[T] | None]) -> list[T]:
        """Return what a step finds in the inventory; where it fails, what it found until then.

        A failure is noted as one of the whole input, so that no verdict is passed over it.
        """
        kept: list[T] = []
        try:
            for item in found() or ():
                kept.append(item)  # noqa: PERF402 - what came before a failure counts
        except Exception as error:  # noqa: BLE001 - values that nobody thought of
            why = f"{what} failed: {type(error).__name__}: {str(error)[:LONGEST_TEXT]}"
            self.files.append(FileRead(file=ALL_FILES, skipped=why, notes=(why,)))
        return kept


def _is_repeated(last: Reading, value: Value, evidence: Evidence, time_s: float | None) -> bool:
    """Return whether a line says again what the last one said, as far as its front shows."""
    same = last.value == value and last.time_s == time_s
    return same and last.evidence.text[:_FRONT] == evidence.text[:_FRONT]


def _renamed(entity: Entity, old: str, new: str) -> Entity:
    if entity.kind == INPUT or entity.fields.get("host") != old:
        return entity
    return Entity(entity.kind, (new, *entity.key[1:]))


def sample_name(file: str) -> str:
    """Return what the samples of one output share: the last part of the name of their files."""
    return file.rpartition("/")[2]
