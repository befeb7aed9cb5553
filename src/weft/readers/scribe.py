"""Writes what a reader finds into the inventory, for the entity that a line is about."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from weft.inventory.entity import INPUT, Entity, kind
from weft.inventory.evidence import LONGEST_TEXT, Evidence
from weft.inventory.inventory import EVERYTHING, Event, Inventory
from weft.inventory.values import Value, typed
from weft.readers.line import Line
from weft.readers.prefix import prefix

_PLACES: Final = ("file", "line")
"""What stands for a field: where it was read."""


@dataclass(slots=True)
class Scribe:
    """One file being read: what its lines are about, and where they are written to."""

    inventory: Inventory
    file: str
    context: dict[str, str] = field(default_factory=dict)
    """Fields of keys that hold until another value: host, adapter, interface, ..."""
    time_s: float | None = None
    """When the file was written, for rates of counters; a line's own time is nearer."""
    objects: int = 0
    """Objects of documents that were met in the file."""
    _line: int = -1
    _prefix: Mapping[str, str] = field(default_factory=dict)

    def state(self, path: str, value: Value, line: Line, groups: Mapping[str, str]) -> None:
        """Record ``kind.attribute`` of the entity that a line is about.

        ``groups`` are fields of its key that the line names.
        """
        wanted, _, name = path.partition(".")
        entity = self.entity(wanted, line, groups)
        if entity is not None:
            self.inventory.record(entity, name, value, self.evidence(line), self.time_s)

    def said(self, path: str, text: str, line: Line, groups: Mapping[str, str]) -> None:
        """Record an attribute from its text, converted to its type; not what is none."""
        value = typed(path, text)
        if value is not None:
            self.state(path, value, line, groups)

    def event(
        self, code: str, wanted: str, severity: str, line: Line, groups: Mapping[str, str]
    ) -> None:
        """Record an event; where its entity is not known it happened to what contains it."""
        entity = self.entity(wanted, line, groups) or self.entity("host", line, groups)
        if entity and entity.key and not any(entity.key) and self._prefix.get("rank"):
            entity = self.entity("rank", line, groups) or entity
        own = {"rank": self.context["rank"]} if "rank" in self.context else {}
        fields = {**own, **self._prefix, **groups}
        self.inventory.happened(
            Event(code, entity or EVERYTHING, severity, fields, [self.evidence(line)],
                  self.time_s, self.time_s)
        )  # fmt: skip

    def entity(self, wanted: str, line: Line, groups: Mapping[str, str]) -> Entity | None:
        """Return the entity of a kind that a line is about, or None where a key is missing."""
        if wanted == INPUT or not wanted:
            return EVERYTHING
        if line.number != self._line:
            self._line, self._prefix = line.number, prefix(line.text)
        found = kind(wanted)
        own, context = self._prefix, self.context
        key = [
            groups.get(name) or own.get(name) or context.get(name)
            or self._default(name, found.defaults, groups)
            for name in found.key
        ]  # fmt: skip
        return None if None in key else Entity(wanted, tuple(key))  # type: ignore[arg-type]

    def evidence(self, line: Line) -> Evidence:
        """Return a line as evidence."""
        return Evidence(self.file, line.number, line.text[:LONGEST_TEXT].strip())

    def _default(
        self, name: str, defaults: Mapping[str, str], groups: Mapping[str, str]
    ) -> str | None:
        """Return what stands for a field that nothing names, None where it must be known."""
        instead = defaults.get(name)
        if instead in _PLACES:
            return self.file if instead == "file" else str(self._line)
        if not instead:
            return instead
        known = groups.get(instead) or self._prefix.get(instead) or self.context.get(instead)
        return known or ""
