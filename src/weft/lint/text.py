"""The text of a file, and places in it that findings point at."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol, TypeVar

import re2

T = TypeVar("T")
LONGEST_SHOWN = 160


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """One line that a finding points at."""

    file: str
    line: int
    column: int
    text: str


class Locator(Protocol):
    """Finds the line and column of a path of keys in a document."""

    def __call__(self, path: tuple[str, ...]) -> tuple[int, int]:
        """Return line and column, both from 1."""


@dataclass(frozen=True, eq=False)
class Text:
    """One file as it was read."""

    name: str
    """As the user named it, or below the folder that the user named."""
    content: str
    origin: str = ""
    """Where it is on the disk, where it is."""

    @cached_property
    def lines(self) -> list[str]:
        """The lines without their ends."""
        return self.content.splitlines()

    @cached_property
    def stem(self) -> str:
        """The name of the file without its folders."""
        return self.name.rpartition("/")[2]

    @cached_property
    def parent(self) -> str:
        """The path of the folder that the file is in."""
        return self.name.rpartition("/")[0]

    @property
    def folder(self) -> str:
        """The name of the folder that the file is in."""
        return self.parent.rpartition("/")[2]


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """A place in a file: a line, or a path of keys that is looked up when somebody asks."""

    text: Text
    line: int = 0
    column: int = 1
    path: tuple[str, ...] = ()
    locate: Locator | None = field(default=None, repr=False)

    def evidence(self) -> Evidence:
        """Return the line that is there."""
        line, column = self.line, self.column
        if self.locate is not None:
            line, column = self.locate(self.path)
        lines = self.text.lines
        shown = lines[line - 1].strip() if 0 < line <= len(lines) else ""
        if len(shown) > LONGEST_SHOWN:
            shown = f"{shown[: LONGEST_SHOWN - 1]}…"
        return Evidence(file=self.text.name, line=max(line, 1), column=column, text=shown)


def deepest(path: tuple[str, ...], places: Mapping[tuple[str, ...], T]) -> T | None:
    """Return the place of the deepest part of a path that has one."""
    parts = (path[:length] for length in range(len(path), -1, -1))
    return next((places[part] for part in parts if part in places), None)


_TOKEN = re2.compile(r'"((?:[^"\\]|\\.)*)"|[{}\[\],:]|[^\s{}\[\],:"]+')


@dataclass(slots=True)
class JsonLocator:
    """Finds where a path of keys stands in JSON text; walks the text once, when first asked."""

    content: str
    _places: dict[tuple[str, ...], int] | None = None

    def __call__(self, path: tuple[str, ...]) -> tuple[int, int]:
        """Return line and column of the deepest part of the path that is there."""
        if self._places is None:
            self._places = dict(_walk(self.content))
        at = deepest(path, self._places)
        if at is None:
            return 1, 1
        line = self.content.count("\n", 0, at) + 1
        return line, at - self.content.rfind("\n", 0, at)


def _walk(content: str) -> Iterator[tuple[tuple[str, ...], int]]:
    """Yield every path of keys with its offset; the text is known to be JSON."""
    stack: list[list[str | int]] = []
    key_next = False
    for token in _TOKEN.finditer(content):
        word = token[0]
        if word in "{[":
            if stack and isinstance(stack[-1][0], int):
                yield tuple(str(group[0]) for group in stack), token.start()
            stack.append([0 if word == "[" else ""])
            key_next = word == "{"
        elif word in "}]":
            stack.pop()
            key_next = False
        elif word == ",":
            last = stack[-1]
            if isinstance(last[0], int):
                last[0] += 1
            else:
                key_next = True
        elif word == ":":
            key_next = False
        elif key_next and token[1] is not None:
            stack[-1][0] = token[1]
            yield tuple(str(group[0]) for group in stack), token.start()
        elif stack and isinstance(stack[-1][0], int):
            yield tuple(str(group[0]) for group in stack), token.start()
