"""Outputs with a header line and columns below it, as rows of tables.

Where a line of dashes follows the header it tells how wide columns are; else cells are what
white space separates, and a row has as many as the header.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

import re2

from weft.inventory.entity import attribute
from weft.inventory.values import typed
from weft.readers.line import Line
from weft.readers.rows import FACTORS, bare
from weft.readers.scribe import Scribe
from weft.readers.unknown import spare

_DASHES: Final = re2.compile(r"^[\s+|]*-{2,}[-\s+|]*$")
_WORDS: Final = re2.compile(r"\S+")
_PHRASES: Final = re2.compile(r"\S+(?: \S+)*")
_FREE: Final = re2.compile(r"(?i)^(?:reason|message|comment|description)$|\(REASON\)$")
_SUM: Final = re2.compile(r"(?i)^(?:totals?|sum):?$")
"""What names the row of sums below a table."""
_GAPS: Final = re2.compile(r"\s{2,}")
_NUMBERS: Final = {"number", "counter"}
_PARTS: Final = " / "


@dataclass(slots=True)
class _Span:
    start: int
    end: int


@dataclass(frozen=True)
class Columns:
    """One table: its header, the columns that are fields of keys, and those that are values."""

    name: str
    header: str
    key: Mapping[str, str]
    """Pattern of the title of a column -> field of the key."""
    cells: Mapping[str, str]
    """Pattern of the title of a column -> attribute, and its unit after a space if it has one.

    ``kind.part / kind.whole`` are two attributes, of a cell as ``1/2``.

    Groups of the pattern are fields of the key too.
    """
    split: str = ""
    """What separates cells, where it is not white space, as a comma."""
    unit: str = ""
    values: Mapping[str, str] = field(default_factory=dict)
    needs: str = ""
    """What a line before the header must have entered, where several outputs share it."""

    @property
    def opens(self) -> tuple[str, ...]:
        """Return the patterns of the line that begins such an output."""
        return (self.header,)

    def block(self, scribe: Scribe) -> "ColumnBlock":
        """Begin to read one output."""
        return ColumnBlock(self, scribe)

    @cached_property
    def _seen(self) -> "dict[tuple[str, ...], _Roles]":
        return {}

    def roles(self, titles: tuple[str, ...]) -> "_Roles":
        """Return what columns with these titles hold; of several for one field the first."""
        if titles not in self._seen:
            last_first = [*enumerate(titles)][::-1]
            keys = {name: at for text, name in self.key.items()
                    for at, title in last_first if re2.search(text, title)}  # fmt: skip
            found = ((at, path, re2.search(text, title)) for at, title in enumerate(titles)
                     for text, path in self.cells.items())  # fmt: skip
            values = tuple((at, path, hit.groupdict()) for at, path, hit in found if hit)
            self._seen[titles] = _Roles(keys, values)
        return self._seen[titles]


@dataclass(frozen=True, slots=True)
class _Roles:
    """Columns by their number: fields of keys, and values with the fields that titles hold."""

    keys: Mapping[str, int]
    values: tuple[tuple[int, str, Mapping[str, str]], ...]

    def spare(self, count: int) -> Iterator[int]:
        """Yield the columns that hold neither, of so many."""
        used = {*self.keys.values(), *(at for at, _, _ in self.values)}
        return (at for at in range(count) if at not in used)


def columns(told: Mapping[str, Any]) -> Columns:
    """Return a table from its row, checked against the vocabulary."""
    for paths in told["cells"].values():
        for path in paths.split(_PARTS):
            attribute(path.partition(" ")[0])
    values = {str(k).lower(): str(v) for k, v in told.get("values", {}).items()}
    return Columns(**{**told, "values": values})


@dataclass(slots=True)
class ColumnBlock:
    """One output being read: its header first, then its rows."""

    columns: Columns
    scribe: Scribe
    header: str = ""
    titles: list[str] = field(default_factory=list)
    spans: list[_Span] = field(default_factory=list)

    def read(self, raw: bytes, line: Line) -> bool:
        """Read a line of the output; return whether it states anything."""
        del raw
        if not self.header:
            self.header = line.text
            self.titles = self._words(line.text)
            return True
        if _DASHES.search(line.text):
            self._measure(line.text)
            return True
        if self.columns.needs and not self.scribe.context.get(self.columns.needs):
            return False
        cells = self._cells(line.text)
        return bool(cells) and self._row(cells, line)

    def end(self) -> None:
        """End the output."""

    def _words(self, text: str) -> list[str]:
        if self.columns.split:
            most = len(self.titles) - 1  # the last cell may hold what separates cells
            return [part.strip() for part in text.split(self.columns.split, most)]
        return [str(found) for found in _WORDS.findall(text.replace("|", " "))]

    def _measure(self, dashes: str) -> None:
        """Take the widths of columns from the dashes below the header."""
        marks = [_Span(*found.span()) for found in re2.finditer(r"-+", dashes)]
        if len(marks) < 2:  # noqa: PLR2004 - one rule below the whole header
            return
        self.spans = marks
        spaced = [str(part) for part in _GAPS.split(self.header.strip())]
        measured = [self.header[mark.start : mark.end].strip() for mark in marks]
        self.titles = spaced if len(spaced) == len(marks) else measured

    def _cells(self, text: str) -> list[str]:
        if self.spans:
            return self._spaced(text) or self._measured(text, self.spans)
        words = self._words(text)
        more = len(words) - len(self.titles)
        if more > 0 and self.titles and _FREE.search(self.titles[-1]):
            last = len(self.titles) - 1  # the last cell is a text of several words
            return [*words[:last], " ".join(words[last:])]
        if more == 1 and not self.columns.split:  # a first cell of two words, as "GPU 1"
            words = [words[1], *words[2:]]
        if len(words) == len(self.titles):
            return words
        titles = [str(part) for part in _GAPS.split(self.header.strip())]
        if len(words) == len(titles) and not self.columns.split:  # titles of several words
            self.titles = titles
            return words
        return [] if self.columns.split else self._spaced(text) or self._aligned(text)

    def _aligned(self, text: str) -> list[str]:
        """Return the cells of a line that begin where the titles of the header begin."""
        if "|" in text:
            return []
        words = [_Span(*found.span()) for found in _WORDS.finditer(self.header)]
        if cells := self._measured(text, words):
            return cells
        phrases = [_Span(*found.span()) for found in _PHRASES.finditer(self.header)]
        if cells := self._measured(text, phrases):
            self.titles = [self.header[phrase.start : phrase.end] for phrase in phrases]
        return cells

    def _measured(self, text: str, spans: Sequence[_Span]) -> list[str]:
        """Return the cells of a line as wide as the header, or nothing where it is no row."""
        starts = [span.start for span in spans]
        if any(text[start - 1 : start].strip() for start in starts[1:]):
            return []
        ends = [*starts[1:], len(text)]
        cells = [text[start:end].strip() for start, end in zip(starts, ends, strict=True)]
        filled = sum(map(bool, cells))
        return cells if cells[0] and 2 * filled > len(cells) else []

    def _spaced(self, text: str) -> list[str]:
        """Return the cells of a line with two spaces or more between them, if none is empty."""
        cells = [str(part) for part in _GAPS.split(text.strip())]
        return cells if len(cells) == len(self.titles) else []

    def _row(self, cells: Sequence[str], line: Line) -> bool:
        if _SUM.search(cells[0]):
            return False
        roles = self.columns.roles(tuple(self.titles[: len(cells)]))
        key = {name: cells[at] for name, at in roles.keys.items()}
        states = False
        for at, path, fields in roles.values:
            for part, cell in _parts(path, cells[at]):
                states |= self._set(part, cell, line, {**key, **fields})
        for at in roles.spare(len(cells)) if states else ():
            item = " ".join(key.values())
            spare(self.scribe, item, self.titles[at], cells[at], line)
        return states

    def _set(self, told: str, cell: str, line: Line, key: Mapping[str, str]) -> bool:
        path, _, unit = told.partition(" ")
        said = self.columns.values.get(cell.lower(), cell)
        said = bare(said) if attribute(path).type in _NUMBERS else said
        value = typed(path, said, FACTORS.get(unit or self.columns.unit, 1.0))
        if value is None:
            return False
        self.scribe.state(path, value, line, key)
        return True


def _parts(paths: str, cell: str) -> Iterator[tuple[str, str]]:
    """Yield the attributes that a cell holds, each with its text."""
    if _PARTS not in paths:
        return iter(((paths, cell),))
    return zip(paths.split(_PARTS), cell.split("/"), strict=False)
