"""Objects within JSON and XML documents, read by rows: which object, its key, its values.

A row names the keys that an object must ``have``; wherever such an object stands in a document
it is read. Values are paths from the object: names separated by ``/``, ``*`` for each member,
``..`` for the object around it, ``...`` for the one with metadata that it is in, ``@`` for the
name under which it stands; lists are stepped through. A name that begins with ``^`` is a
pattern of names. ``=text`` is a constant, ``path ~ pattern`` the first group of a pattern,
``# path`` how many there are, ``one + other`` both with a space between, and of
``one | other`` the first that is there counts.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

from weft.inventory.entity import attribute, kind
from weft.inventory.table import tables
from weft.inventory.values import Value, typed
from weft.readers.line import Line
from weft.readers.matcher import pattern
from weft.readers.rows import FACTORS, bare
from weft.readers.scribe import Scribe
from weft.readers.untrusted import Lines

MOST_OBJECTS: Final = 500_000
"""Objects of one document that are looked at."""
_LONGEST: Final = 300


@dataclass(frozen=True, slots=True)
class Place:
    """A value of a document, the name under which it stands, and the object around it."""

    value: Any
    name: str
    outer: "Place | None"

    def below(self) -> "Iterator[Place]":
        """Yield the members of an object, through lists."""
        if isinstance(self.value, dict):
            for name, value in self.value.items():
                yield from _through(value, str(name), self)


def _through(value: Any, name: str, outer: Place | None) -> Iterator[Place]:  # noqa: ANN401 - any JSON
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, list):
            waiting.extend(reversed(one))
        else:
            yield Place(one, name, outer)


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectRow:
    """One kind of object: its keys, the entity that it is about, and what it states."""

    name: str
    has: tuple[str, ...]
    source: str
    where: Mapping[str, str] = field(default_factory=dict)
    """Paths and the pattern that each must match, or with ``!`` before it must not."""
    key: Mapping[str, str] = field(default_factory=dict)
    """Field of a key -> path."""
    sets: Mapping[str, str] = field(default_factory=dict)
    """Attribute, and its unit after a space if it has one -> path."""
    values: Mapping[str, str] = field(default_factory=dict)
    unit: str = ""
    code: str = ""
    entity: str = ""
    severity: str = ""
    lines: bool = False
    """Its members are read as lines ``name: value`` by the message tables too."""
    each: str = ""
    """A path: the row is of each value there, of which ``.`` is the value itself."""

    def within(self, at: Place) -> Iterator[Place]:
        """Yield what an object holds of this kind: the object itself, or values in it."""
        if all(text in at.value for text in self.has):
            for place in _at(at, self.each) if self.each else [at]:
                if all(_holds(place, path, told) for path, told in self.where.items()):
                    yield place

    def read(self, at: Place, line: Line, scribe: Scribe) -> None:
        """Record what an object states."""
        key = {name: said for name, path in self.key.items() for said in _texts(at, path)[:1]}
        own = {"object": str(scribe.objects), **key}  # several may stand in one line
        for told, path in self.sets.items():
            self._set(told, _texts(at, path), line, own, scribe)
        if self.code:
            scribe.event(self.code, self.entity, self.severity, line, key)
        if self.lines:
            _as_lines(at, key, line, scribe)

    def _set(
        self, told: str, said: list[str], line: Line, key: Mapping[str, str], scribe: Scribe
    ) -> None:
        path, _, unit = told.partition(" ")
        if not said:
            return
        value = self._value(path, said, FACTORS.get(unit or self.unit, 1.0))
        if value is not None:
            scribe.state(path, value, line, key)

    def _value(self, path: str, said: list[str], factor: float) -> Value | None:
        """Return texts as one value: of several numbers the largest, of several words all."""
        said = [self.values.get(text.lower(), text) for text in said]
        known = attribute(path).type
        if known in {"number", "counter"}:
            numbers = [typed(path, bare(text), factor) for text in said]
            return max(
                (number for number in numbers if isinstance(number, float)), default=None
            )
        return typed(path, (" " if known == "list" else "+").join(said), factor)


def read(document: Any, places: Lines, scribe: Scribe) -> list[str]:  # noqa: ANN401 - any JSON
    """Record what the objects of a document state; return the names of the rows that fit."""
    found: dict[str, None] = {}
    waiting = [place for place in _through(document, "", None) if isinstance(place.value, dict)]
    waiting.reverse()
    for _ in range(MOST_OBJECTS):
        if not waiting:
            break
        at = waiting.pop()
        scribe.objects += 1
        for row in _candidates(at.value):
            for place in row.within(at):
                found[row.name] = None
                row.read(place, _line(at, places, scribe.objects), scribe)
        waiting.extend(
            reversed([place for place in at.below() if isinstance(place.value, dict)])
        )
    return list(found)


def _candidates(value: Mapping[str, Any]) -> Iterator[ObjectRow]:
    known = _by_key()
    for name in value:
        yield from known.get(name, ())


@cache
def rows() -> tuple[ObjectRow, ...]:
    """Return every row of the tables, checked against the vocabulary."""
    found = tables("weft.readers", "objects")
    return tuple(_row(told) for table in found.values() for told in table)


@cache
def _by_key() -> Mapping[str, list[ObjectRow]]:
    found: dict[str, list[ObjectRow]] = {}
    for row in rows():
        found.setdefault(row.has[0], []).append(row)
    return found


def _row(told: Mapping[str, Any]) -> ObjectRow:
    listed = dict(told)
    for path in listed.get("sets", {}):
        attribute(path.partition(" ")[0])
    if "entity" in listed:
        kind(listed["entity"])
    values = {str(k).lower(): str(v) for k, v in listed.pop("values", {}).items()}
    return ObjectRow(has=tuple(listed.pop("has")), values=values, **listed)


def _holds(at: Place, path: str, told: str) -> bool:
    """Return whether a text at a path matches a pattern, or with ``!`` before it none does."""
    wanted = told.removeprefix("!")
    return any(pattern(wanted).search(text) for text in _texts(at, path)) is (wanted == told)


def _texts(at: Place, told: str) -> list[str]:
    """Return the texts at a path from an object."""
    if told.startswith("="):
        return [told[1:]]
    if told.startswith("# "):
        return [str(len(_texts(at, told[2:])))]
    if " | " in told:
        return next((said for part in told.split(" | ") if (said := _texts(at, part))), [])
    if " + " in told:
        parts = [said for part in told.split(" + ") for said in _texts(at, part)[:1]]
        return [" ".join(parts)] if parts else []
    path, _, group = told.partition(" ~ ")
    found = _at(at, path)
    texts = [str(place.value) for place in found if isinstance(place.value, str | int | float)]
    if not group:
        return texts
    hits = [pattern(group).search(text) for text in texts]
    return [str(hit[1]) for hit in hits if hit and hit[1]]


def _at(at: Place, path: str) -> list[Place]:
    """Return the values at a path from an object."""
    found = [at]
    for step in path.split("/"):
        found = [below for place in found for below in _step(place, step)]
    return found


def _step(at: Place, step: str) -> list[Place]:
    if step in _AROUND:
        return _AROUND[step](at)
    if not isinstance(at.value, dict):
        return []
    named = [step] if step[:1] != "^" else [n for n in at.value if pattern(step).search(n)]
    return [
        place
        for name in named
        if name in at.value
        for place in _through(at.value[name], name, at)
    ]


def _api_object(at: Place) -> list[Place]:
    """Return the innermost object with metadata that a value is in, or is."""
    place: Place | None = at
    while place and not (isinstance(place.value, dict) and "metadata" in place.value):
        place = place.outer
    return [place] if place else []


_AROUND: Final[Mapping[str, Callable[[Place], list[Place]]]] = {
    ".": lambda at: [at],
    "..": lambda at: [at.outer] if at.outer else [],
    "...": _api_object,
    "@": lambda at: [Place(at.name, "", at)] if at.name else [],
    "*": lambda at: list(at.below()),
}


def _as_lines(at: Place, key: Mapping[str, str], line: Line, scribe: Scribe) -> None:
    """Read the members of an object as a tool without JSON would print them."""
    from weft.readers.engine import engine  # noqa: PLC0415 - only where there is such an object

    before = dict(scribe.context)
    scribe.context.update(key)
    for place in at.below():
        if isinstance(place.value, str | int | float):
            text = f"{place.name}: {place.value}"
            raw = text.encode("utf-8", "replace")
            for row in engine().matches(raw)[0]:
                if row.tool != "otherwise":
                    row.read(Line(line.number, text, raw), scribe)
    scribe.context.clear()
    scribe.context.update(before)


def _line(at: Place, places: Lines, number: int) -> Line:
    """Return an object as a line; in a document of one line the number counts its objects."""
    said = ", ".join(
        f"{place.name}: {place.value}"
        for place in at.below()
        if isinstance(place.value, str | int | float)
    )
    text = f"{at.name}: {said}" if at.name else said
    return Line(places.get(id(at.value), number), text[:_LONGEST], b"")
