"""What a report is made of, before it is text, Markdown or HTML."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

SCREEN_LINES: Final = 24
"""Lines of a terminal as it opens."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows of text cells. Columns named in ``left`` align left, the others right."""

    title: str = ""
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    left: tuple[int, ...] = (0,)
    """Places of the columns that hold words rather than numbers."""
    notes: tuple[str, ...] = ()
    least: tuple[int, ...] = ()
    """Places of the columns that the first screen drops where it is too narrow, in order."""

    def without(self, place: int) -> "Table":
        """Return the table without one column."""

        def kept(cells: tuple[str, ...]) -> tuple[str, ...]:
            return cells[:place] + cells[place + 1 :]

        def moved(places: tuple[int, ...]) -> tuple[int, ...]:
            return tuple(one - (one > place) for one in places if one != place)

        rows = tuple(map(kept, self.rows))
        left, least = moved(self.left), moved(self.least)
        return replace(self, columns=kept(self.columns), rows=rows, left=left, least=least)


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Names and values, one pair a line."""

    title: str = ""
    pairs: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentences:
    """Lines of prose; a list when there are several."""

    title: str = ""
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One matter that takes more than a line: what it is, what came of it, and why."""

    head: str
    text: str
    lines: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Entries:
    """Matters that a table has no room for."""

    title: str = ""
    items: tuple[Entry, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """A chart by its name in ``report/charts``, and the data that it takes."""

    chart: str
    name: str = ""
    """What the user picks it by; empty: the name of the chart."""
    title: str
    rows: tuple[Mapping[str, Any], ...]
    marks: Mapping[str, Any] = field(default_factory=dict)
    """Single values that the chart marks: the knee, today, a unit."""


Block = Table | Facts | Sentences | Entries | Drawing


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One report: what the first screen holds, then everything else."""

    title: str
    """The answer in one sentence, where there is one."""
    answer: tuple[Block, ...] = ()
    """What the first screen of a text holds, the most important first: the table that supports
    the title, reasons, next steps. Empty: the text holds everything (listings, references)."""
    blocks: tuple[Block, ...]
    """The rest: text prints it with ``--full``, other formats always."""
    rest: str = ""
    """What the rest is, for the last line of the first screen; empty: the titles of it."""
    footer: tuple[str, ...] = ()

    @property
    def everything(self) -> tuple[Block, ...]:
        """All blocks in order."""
        return (*self.answer, *self.blocks)

    @property
    def drawings(self) -> tuple[Drawing, ...]:
        """The charts alone."""
        return tuple(block for block in self.everything if isinstance(block, Drawing))


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """How one kind of result is shown."""

    shows: str
    """Full name of the class of the result; the file is its last part in snake case."""
    verb: str
    """Command that makes it; empty where several do."""
    page: Callable[[Any], Page]
    text: Callable[[Any], str] | None = None
    """The full text in a layout of its own, where another tool's readers expect one."""
    screen_lines: int = SCREEN_LINES
    """Most lines of the text without ``--full``, for a page that has an answer."""
    charts: tuple[str, ...] | None = None
    """Names of all charts that its page may have; none: they follow from the result."""


def rows_of(*rows: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Freeze the rows of a table."""
    return tuple(tuple(row) for row in rows)
