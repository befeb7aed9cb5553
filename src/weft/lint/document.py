"""YAML and JSON as trees whose every part knows its place in the file."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from string import hexdigits
from typing import Any, Final

from weft.lint.text import JsonLocator, Locator, Place, Text, deepest
from weft.readers.untrusted import DEEPEST, MOST_NODES, Malformed, json_value, yaml_nodes


@dataclass(slots=True, eq=False)
class Tree:
    """A part of a document: its plain value and the path of keys to it.

    Scalars of YAML are kept as they are written, so that ``no`` stays ``no``.
    """

    value: Any
    text: Text
    locate: Locator
    path: tuple[str, ...] = ()

    @property
    def at(self) -> Place:
        """Where it stands."""
        return Place(self.text, path=self.path, locate=self.locate)

    def __getitem__(self, key: str) -> "Tree":
        """Return what stands under a key; an empty part where nothing does."""
        below = self.value.get(key) if isinstance(self.value, dict) else None
        return Tree(below, self.text, self.locate, (*self.path, key))

    def under(self, *keys: str) -> "Tree":
        """Return what stands under a path of keys."""
        found = self
        for key in keys:
            found = found[key]
        return found

    def items(self) -> Iterator[tuple[str, "Tree"]]:
        """Yield the keys of a mapping with what stands under each."""
        if isinstance(self.value, dict):
            for key, value in self.value.items():
                yield key, Tree(value, self.text, self.locate, (*self.path, key))

    def parts(self) -> Iterator["Tree"]:
        """Yield what stands under each key of a mapping."""
        return (part for _, part in self.items())

    def each(self) -> Iterator["Tree"]:
        """Yield the entries of a list; of a single value, itself."""
        if isinstance(self.value, list):
            for number, one in enumerate(self.value):
                yield Tree(one, self.text, self.locate, (*self.path, str(number)))
        elif self.value is not None:
            yield self

    def __bool__(self) -> bool:
        """Return whether there is anything."""
        return self.value is not None

    def string(self) -> str:
        """Return a scalar as it is written; empty where there is none."""
        if isinstance(self.value, bool):
            return "true" if self.value else "false"
        if self.value is None or isinstance(self.value, dict | list):
            return ""
        return str(self.value)

    def number(self) -> int | None:
        """Return a scalar as a whole number where it is one."""
        return whole(self.string())

    def true(self) -> bool:
        """Return whether a scalar says yes."""
        return self.string().lower() in {"true", "yes", "on", "1", "enabled", "enable"}


_MOST_DIGITS: Final = 18
_MOST_HEXADECIMAL: Final = 16
_HEXADECIMAL: Final = frozenset(hexdigits)


@lru_cache(1 << 16)
def whole(text: str) -> int | None:
    """Read a whole number, decimal or hexadecimal.

    >>> whole("0x7fff"), whole(" 12 "), whole("12k")
    (32767, 12, None)
    """
    text = text.strip()
    digits = text.removeprefix("-")
    if len(digits) <= _MOST_DIGITS and digits.isascii() and digits.isdigit():
        return int(text)
    digits = text[2:] if text[:2] in {"0x", "0X"} else ""
    is_hexadecimal = 0 < len(digits) <= _MOST_HEXADECIMAL and set(digits) <= _HEXADECIMAL
    return int(digits, 16) if is_hexadecimal else None


def read_json(text: Text) -> Tree:
    """Read one JSON document; raise Malformed where it is none or a key stands twice."""
    return Tree(json_value(text.content, unique_keys=True), text, JsonLocator(text.content))


def read_yaml(text: Text) -> list[Tree]:
    """Read the documents of a YAML file; raise Malformed where it is none."""
    return [_tree(node, text) for node in yaml_nodes(text.content)]


def _tree(node: Any, text: Text) -> Tree:  # noqa: ANN401 - a node of the YAML library
    reading = _Reading({}, [0])
    value = reading.plain(node, ())
    return Tree(value, text, _Marks(reading.places))


@dataclass(frozen=True, slots=True)
class _Marks:
    places: dict[tuple[str, ...], tuple[int, int]]

    def __call__(self, path: tuple[str, ...]) -> tuple[int, int]:
        return deepest(path, self.places) or (1, 1)


@dataclass(slots=True)
class _Reading:
    """Turns nodes into plain values and notes where each stands."""

    places: dict[tuple[str, ...], tuple[int, int]]
    count: list[int]

    def plain(self, node: Any, path: tuple[str, ...]) -> Any:  # noqa: ANN401 - plain values
        self.count[0] += 1
        mark = node.start_mark
        if self.count[0] > MOST_NODES or len(path) > DEEPEST:
            raise Malformed("holds more than a configuration can", mark.line + 1)
        self.places.setdefault(path, (mark.line + 1, mark.column + 1))
        kind = node.id
        if kind == "mapping":
            return self._mapping(node, path)
        if kind == "sequence":
            return [self.plain(one, (*path, str(i))) for i, one in enumerate(node.value)]
        if node.tag.endswith(":null") and node.value in {"", "~", "null"}:
            return None
        return node.value

    def _mapping(self, node: Any, path: tuple[str, ...]) -> dict[str, Any]:  # noqa: ANN401
        found: dict[str, Any] = {}
        for key, value in node.value:
            name = key.value if key.id == "scalar" else str(key.value)
            mark = key.start_mark
            if name in found and name != "<<":
                raise Malformed(
                    f"the key {name!r} stands twice in one mapping; the last one wins",
                    mark.line + 1,
                    mark.column + 1,
                )
            self.places.setdefault((*path, name), (mark.line + 1, mark.column + 1))
            below = self.plain(value, (*path, name))
            if name == "<<" and isinstance(below, dict):
                found = below | found
            else:
                found[name] = below
        return found
