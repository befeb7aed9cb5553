"""What a row of a message table or of a format says about a line."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import re2

from weft.inventory.entity import attribute
from weft.inventory.values import Value, typed
from weft.readers.line import Line
from weft.readers.remembered import remembered
from weft.readers.scribe import Scribe
from weft.units import rate_from_gbit

FACTORS: Mapping[str, float] = {
    "Gb/s": rate_from_gbit(1.0), "Mb/s": rate_from_gbit(1e-3), "kb/s": rate_from_gbit(1e-6),
    "b/s": rate_from_gbit(1e-9), "GB/s": 1e9, "MB/s": 1e6,
    "MiB/s": 2.0**20, "us": 1e-6, "ms": 1e-3, "ns": 1e-9, "KiB": 2.0**10, "MiB": 2.0**20,
    "GiB": 2.0**30, "TiB": 2.0**40, "Tb/s": rate_from_gbit(1e3), "MHz": 1e6, "%": 1e-2,
    "kB": 1e3,
}  # fmt: skip
"""Units of the texts of tools, in those of the inventory."""
_QUANTITY = re2.compile(
    r"^(-?[0-9][0-9.,]*(?:[eE][-+]?[0-9]+)?) ?"
    r"(?:x|X|%|C|W|V|MHz|MiB|KiB|MB|GB|TB|GB/s|GT/s|Gb/s|Mb/s|Gbps|Mbps|dBm|mW|mA|Bytes|RPM)$"
)


_LONGEST_MESSAGE = 600
_FRONTS = re2.compile(
    r"^[\s|>*-]+|\] |\]: |\b(?:WARN|WARNING|INFO|ERROR|ERR|NOTICE|kernel|error|warning):? +|"
    r"\d\d:\d\d:\d\d[\d.,]*(?:Z|[+-]\d\d:?\d\d)? "
)
"""What ends the stamps and labels in front of the message of a line."""


def bare(said: str) -> str:
    """Return the number of a quantity, whose unit a row states; other texts as they are.

    >>> bare("16x"), bare("41 C"), bare("0x10"), bare("N/A")
    ('16', '41', '0x10', 'N/A')
    """
    found = _QUANTITY.search(said.strip())
    return str(found[1]) if found else said


def message(text: str, start: int) -> str:
    """Return what a line of a log says from the message on that a match is part of.

    >>> line = "n7 kernel: [ 12.3] NVRM: GPU  is lost"
    >>> message(line, line.index("is lost"))
    'NVRM: GPU is lost'
    """
    fronts = [found.end() for found in _FRONTS.finditer(text[:start])]
    return " ".join(text[max(fronts, default=0) :].split())[:_LONGEST_MESSAGE]


class Said(NamedTuple):
    """What a row finds in a line."""

    start: int
    """Where in the bytes of the line the pattern begins."""
    groups: Mapping[str, str]
    values: Mapping[str, Value | None]
    """Of the attributes that the line states by itself."""


@dataclass(slots=True, eq=False)
class Row:
    """One pattern, the attributes that it states and the event that it is.

    A group whose name ends in a digit from 2 on is another spelling of the one without.
    ``sets`` maps ``kind.attribute`` to a template of the named groups and of what the block has
    entered; ``enters`` lists groups that name what the following lines of the block are about.
    """

    match: str
    tool: str
    code: str = ""
    entity: str = ""
    severity: str = "error"
    sets: Mapping[str, str] = field(default_factory=dict)
    unit: str = ""
    units: Mapping[str, str] = field(default_factory=dict)
    """Of attributes that have another unit than the row."""
    values: Mapping[str, str] = field(default_factory=dict)
    enters: tuple[str, ...] = ()
    leaves: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    """Fields that the block must have entered."""
    lacks: tuple[str, ...] = ()
    """Fields that the block must not have entered."""
    examples: tuple[str, ...] = ()
    source: str = ""
    since: str = ""
    closes: str = ""
    """Not empty: the block of a format ends here."""
    _pattern: Any = None

    @property
    def pattern(self) -> Any:  # noqa: ANN401 - re2 has no types
        """Return the pattern, compiled when it is first needed: most rows never match."""
        if self._pattern is None:
            self._pattern = re2.compile(self.match.encode())
        return self._pattern

    def read(self, line: Line, scribe: Scribe) -> bool:
        """Record what a line states; return whether it is one that the row is about."""
        found = _said(self, line.raw)
        if found is None or not self._is_here(scribe):
            return False
        groups = found.groups
        for leaf in self.leaves:
            scribe.context.pop(leaf, None)
        for enter in self.enters:
            scribe.context[enter] = groups.get(enter, "yes")
        for path in self.sets:
            value = (
                found.values[path] if path in found.values else self._late(path, groups, scribe)
            )
            if value is not None:
                scribe.state(path, value, line, groups)
        if self.code:
            said = message(line.text, len(_text(line.raw[: found.start])))
            scribe.event(self.code, self.entity, self.severity, line, {**groups, "said": said})
        return True

    def _is_here(self, scribe: Scribe) -> bool:
        context = scribe.context
        return all(context.get(need) for need in self.needs) and not any(
            context.get(lack) for lack in self.lacks
        )

    def value(self, path: str, fields: Mapping[str, str]) -> Value | None:
        """Return the value of an attribute; raises KeyError for a field that is missing."""
        template = self.sets[path]
        said = template.format_map(fields) if "{" in template else template
        said = self.values.get(said.lower(), said)
        return typed(path, said, FACTORS.get(self.units.get(path, self.unit), 1.0))

    def _late(self, path: str, groups: Mapping[str, str], scribe: Scribe) -> Value | None:
        """Return a value that takes what the block has entered, if it has."""
        try:
            return self.value(path, {**scribe.context, **groups})
        except KeyError:
            return None


@remembered
def _said(row: Row, raw: bytes) -> Said | None:
    """Return what a row finds in a line."""
    found = row.pattern.search(raw)
    if found is None:
        return None
    groups: dict[str, str] = {}
    for item, said in found.groupdict().items():
        if said:
            groups.setdefault(_text(item).rstrip("23456789"), _text(said).strip())
    values = {}
    for path in row.sets:
        with suppress(KeyError):
            values[path] = row.value(path, groups)
    return Said(found.start(), groups, values)


def _text(said: bytes) -> str:
    return said.decode("utf-8", "replace")


def row(told: Mapping[str, Any], tool: str) -> Row:
    """Return a row from what its table says, checked against the vocabulary."""
    listed: dict[str, Any] = dict(told)
    given = {str(path).partition(" "): value for path, value in listed.pop("sets", {}).items()}
    sets = {path: str(value) for (path, _, _), value in given.items()}
    for path in sets:
        attribute(path)
    listed |= {name: tuple(listed.get(name, ())) for name in _LISTS}
    return Row(
        tool=tool,
        sets=sets,
        units={path: unit for path, _, unit in given if unit},
        match=_joined(listed.pop("match")),
        values={str(k).lower(): str(v) for k, v in listed.pop("values", {}).items()},
        **listed,
    )


def _joined(patterns: str | list[str]) -> str:
    """Return one pattern for the wordings of a row."""
    if isinstance(patterns, str):
        return patterns
    return "|".join(f"(?:{pattern})" for pattern in patterns)


_LISTS = ("enters", "leaves", "needs", "lacks", "examples")
