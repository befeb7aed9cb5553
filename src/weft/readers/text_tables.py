"""Tables in outputs that no reader knows: a header, then rows as wide."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import re2

from weft.inventory.values import number
from weft.readers.line import Line
from weft.readers.rows import bare

_FEWEST_ROWS: Final = 3
_FEWEST_CELLS: Final = 2
_LONGEST_TITLE: Final = 60
_DASHES: Final = re2.compile(r"-{2,}|={2,}")
_RULE: Final = re2.compile(r"^[\s|+=_-]+$|^[|+]-{2,} +[A-Za-z][\w /.]* +-{2,}[-+|]*$")
"""A line between the rows of a table, which may have the title of a section."""
_MOST_BETWEEN: Final = 8
"""Lines that are no row, one after the other, within a table: rules and names of parts."""
_GAPS: Final = re2.compile(r"\s{2,}|\t")
_WORDS: Final = re2.compile(r"\S+")
_PHRASES: Final = re2.compile(r"\S+(?: \S+)*")
_TIMES: Final = re2.compile(
    r"(?i)^(?:#|steps?|iter\w*|epoch|batch|time\w*|date|ts|t|sec\w*|minute|window|interval|sample)$"
)
"""Titles of columns that say when a row was measured."""
Split = Callable[[str], tuple[str, ...]]


@dataclass(slots=True)
class Table:
    """Lines that are as wide as a header above them."""

    titles: tuple[str, ...]
    rows: list[tuple[Line, tuple[str, ...]]] = field(default_factory=list)

    def items(self) -> list[str]:
        """Return what each row is of: its first cells, as many as tell the rows apart.

        Where the first column says when a row was measured, the next one tells what it is of.
        """
        columns = list(zip(*(cells for _, cells in self.rows), strict=True))
        first = self._named(0, columns[0])
        is_time = bool(_TIMES.search(self.titles[0]))
        if len(set(columns[0])) == len(self.rows):
            return [""] * len(self.rows) if is_time or self.is_single else first
        for place, column in enumerate(columns[1:], 1):
            named = self._named(place, column)
            pairs = list(zip(first, named, strict=True))
            if len(set(pairs)) == len(pairs):
                return named if is_time else [" ".join(pair) for pair in pairs]
        return first

    def _named(self, place: int, column: Sequence[str]) -> list[str]:
        """Return the cells of a column as names: a number stands behind its title."""
        title = self.titles[place]
        return [f"{title} {cell}" if cell.isdecimal() else cell for cell in column]

    @property
    def is_single(self) -> bool:
        """Return whether it has one row of numbers: totals, whose first cell is one of them."""
        return len(self.rows) == 1 and all(_is_number(cell) for cell in self.rows[0][1])

    def agreeing(self) -> Iterator[tuple[int, int]]:
        """Yield two columns that are equal in nearly every row: what one shows, the other does.

        They hold several values, so that this is no accident.
        """
        columns = list(zip(*(cells for _, cells in self.rows), strict=True))
        for item, left in enumerate(columns[1:], 1):
            for other, right in enumerate(columns[item + 1 :], item + 1):
                pairs = [pair for pair in zip(left, right, strict=True) if all(pair)]
                same = [a for a, b in pairs if a == b]
                usual = len(same) >= max(_FEWEST_ROWS, _AGREEING * len(pairs))
                if usual and len(same) < len(pairs) and len(set(same)) > 1:
                    yield item, other


_AGREEING: Final = 0.8
"""Of the rows of two columns: so many are equal, or that is an accident."""


def _is_number(cell: str) -> bool:
    return number(bare(cell)) is not None


def table_of(lines: Sequence[Line]) -> Table | None:
    """Return the table that begins with the first of some lines, if one does."""
    if ruled := _ruled(lines):
        return ruled
    header = lines[0].text
    splits = (_bars,) if "|" in header else (_gaps, _aligned, _placed(header), _commas)
    found = [table for split in splits if (table := _table(lines, split))]
    return max(found, key=lambda table: len(table.rows), default=None)


def matrix_of(lines: Sequence[Line]) -> Table | None:
    """Return the matrix that begins with the first of some lines: the same parts both ways.

    Its header has the names of the parts, behind a corner that is empty or says anything.
    """
    titles = tuple(lines[0].text.replace("D\\D", "").split())
    below = lines[1 : len(titles) + 1]
    names = [words[0] if (words := line.text.split()) else "" for line in below]
    if not _are_parts(titles, names):
        titles = titles[1:]
    if len(titles) < _FEWEST_ROWS or not _are_parts(titles, names):
        return None
    matrix = Table(("item", *titles))
    for line in lines[1:]:
        cells = tuple(line.text.split())
        if len(cells) != len(titles) + 1 or cells[0] != titles[len(matrix.rows)]:
            break
        matrix.rows.append((line, cells))
        if len(matrix.rows) == len(titles):
            break
    return matrix if matrix.rows else None


def _are_parts(titles: Sequence[str], names: Sequence[str]) -> bool:
    """Return whether titles name the parts of a matrix: by number, or as its rows are named."""
    numbered = all(title == str(number) for number, title in enumerate(titles))
    return numbered or list(names[: len(titles)]) == list(titles)


def _table(lines: Sequence[Line], split: Split) -> Table | None:
    """Return the table that lines make when they are split so, if they make one.

    Where the first column has no title, its cells name parts of the parts above them.
    """
    titles, part = split(lines[0].text), ""
    nested = split is _gaps and lines[0].text[:1] == " " and _is_outside(lines[1:])
    table = Table(("item", *titles) if nested else titles)
    below = lines[2:] if _is_continued(lines) else lines[1:]
    between = 0
    for line in below if _is_header(table.titles) else ():
        between += 1
        if between > _MOST_BETWEEN:
            break
        if _RULE.search(line.text):
            continue
        cells = split(line.text)
        if nested and cells:
            inside = line.text[:1] == " "
            part = part if inside else cells[0]
            if len(cells) == 1:
                continue
            more = [""] * (len(table.titles) - len(cells))
            cells = (f"{part} {cells[0]}".strip() if inside else part, *cells[1:], *more)
        if len(cells) != len(table.titles) or not cells[0]:
            break
        table.rows.append((line, cells))
        between = 0
    ruled = nested and len(lines) > 1 and _RULE.search(lines[1].text)
    if split is _aligned and not _is_aligned(lines[0], table):
        return None
    underlined = len(lines) > 1 and len(_DASHES.findall(lines[1].text)) == len(titles)
    fewest = 1 if ruled or underlined or table.is_single else _FEWEST_ROWS
    return table if len(table.rows) >= fewest else None


def _is_outside(lines: Sequence[Line]) -> bool:
    """Return whether a line begins at the margin soon: it names what indented ones are of."""
    near = lines[: 2 * _MOST_BETWEEN]
    return any(line.text[:1] != " " for line in near if not _RULE.search(line.text))


def _ruled(lines: Sequence[Line]) -> Table | None:
    """Return a table whose columns are as wide as the dashes below a header of 1 or 2 lines."""
    for height in (1, 2):
        rule = lines[height].text if len(lines) > height + 1 else ""
        marks = [found.span() for found in _DASHES.finditer(rule)]
        if len(marks) < _FEWEST_CELLS or not _RULE.search(rule) or "+" in rule or "|" in rule:
            continue
        starts = [start for start, _ in marks]
        head = [_cut(line.text, starts) or ("",) * len(starts) for line in lines[:height]]
        titles = tuple(" ".join(filter(None, parts)) for parts in zip(*head, strict=True))
        table = Table(titles)
        for line in lines[height + 1 :] if _is_header(titles) else ():
            spaced = _gaps(line.text)
            cells = spaced if len(spaced) == len(titles) else _cut(line.text, starts)
            if _RULE.search(line.text) or not cells or not cells[0]:
                break
            table.rows.append((line, cells))
        if table.rows:
            return table
    return None


def _cut(text: str, starts: Sequence[int]) -> tuple[str, ...]:
    """Return the parts of a line that begin at some places, none where a word spans one."""
    if any(text[start - 1 : start].strip() for start in starts[1:]):
        return ()
    ends = [*starts[1:], len(text)]
    return tuple(text[start:end].strip() for start, end in zip(starts, ends, strict=True))


def _is_continued(lines: Sequence[Line]) -> bool:
    """Return whether the second line is the lower half of a header: indented, then a rule."""
    if len(lines) <= _FEWEST_ROWS or lines[0].text[:1] == " ":
        return False
    return lines[1].text[:1] == " " and bool(_RULE.search(lines[2].text))


def _is_header(titles: Sequence[str]) -> bool:
    """Return whether cells can be titles: several, all different, none a number."""
    return (
        len(titles) >= _FEWEST_CELLS
        and len(set(titles)) == len(titles)
        and all(title and len(title) < _LONGEST_TITLE for title in titles)
        and not any(
            number(title) is not None or ":" in {title[0], title[-1]} or "=" in title
            for title in titles
        )
    )


def _bars(text: str) -> tuple[str, ...]:
    return (
        tuple(part.strip() for part in text.strip().strip("|").split("|"))
        if "|" in text
        else ()
    )


def _gaps(text: str) -> tuple[str, ...]:
    return tuple(str(part) for part in _GAPS.split(text.strip()))


def _aligned(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def _placed(header: str) -> Split:
    """Return a split of lines at the places where the titles of a header begin."""
    starts = [found.start() for found in _PHRASES.finditer(header)]
    return partial(_cut, starts=starts)


def _commas(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",")) if "," in text else ()


def _is_aligned(header: Line, table: Table) -> bool:
    """Return whether every cell begins or ends where its title does: words of a log do not."""
    return all(
        all(abs(span[0] - other[0]) <= 1 or abs(span[1] - other[1]) <= 1
            for span, other in zip(_spans(header.text), _spans(line.text), strict=False))
        for line, _ in table.rows
    )  # fmt: skip


def _spans(text: str) -> Iterator[Any]:
    return (found.span() for found in _WORDS.finditer(text))
