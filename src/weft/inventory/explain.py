"""What was understood of some files: attributes, events, and how much of each file was read."""

from collections.abc import Iterator
from dataclasses import dataclass

from weft.inventory.entity import INPUT
from weft.inventory.inventory import FileRead, Inventory
from weft.inventory.shown import shown
from weft.inventory.values import Value


@dataclass(frozen=True, slots=True)
class Statement:
    """One attribute of one entity, or one event, with the line that states it."""

    kind: str
    entity: str
    name: str
    value: Value
    text: str
    """The value with its unit."""
    file: str
    line: int
    count: int = 1


@dataclass(frozen=True, slots=True)
class Explanation:
    """Statements of some files, and how much of each file was read."""

    files: tuple[FileRead, ...]
    statements: tuple[Statement, ...]


def explain(inventory: Inventory) -> Explanation:
    """Return what an inventory holds as statements."""
    return Explanation(tuple(inventory.files), (*_attributes(inventory), *_events(inventory)))


def _attributes(inventory: Inventory) -> Iterator[Statement]:
    for entity, found in inventory.readings.items():
        for name, readings in found.items():
            for reading in readings:
                text = shown(f"{entity.kind}.{name}", reading.value)
                place = reading.evidence
                yield Statement(
                    entity.kind, str(entity), name, reading.value, text,
                    place.file, place.line, reading.count,
                )  # fmt: skip


def _events(inventory: Inventory) -> Iterator[Statement]:
    for event in inventory.events.values():
        place = event.evidence[0]
        where = "" if event.entity.kind == INPUT else str(event.entity)
        yield Statement(
            "event", where, event.code, event.severity, place.text,
            place.file, place.line, event.count,
        )  # fmt: skip
