"""YAML and JSON as trees whose every part knows its place in the file."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from string import hexdigits
from typing import Any, Final

from weft.lint.text import JsonLocator, Locator, Place, Text, deepest
from weft.readers.untrusted import json_value, yaml_documents


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
            for number, item in enumerate(self.value):
                yield Tree(item, self.text, self.locate, (*self.path, str(number)))
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
    found = yaml_documents(text.content)
    return [Tree(document.value, text, _Marks(document.places)) for document in found]


@dataclass(frozen=True, slots=True)
class _Marks:
    places: dict[tuple[str, ...], tuple[int, int]]

    def __call__(self, path: tuple[str, ...]) -> tuple[int, int]:
        return deepest(path, self.places) or (1, 1)
