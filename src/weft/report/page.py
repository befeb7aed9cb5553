"""What a report is made of, before it is text, Markdown or HTML."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows of text cells. Columns named in ``left`` align left, the others right."""

    title: str = ""
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    left: tuple[int, ...] = (0,)
    """Places of the columns that hold words rather than numbers."""
    notes: tuple[str, ...] = ()


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
    """One report."""

    title: str
    blocks: tuple[Block, ...]
    footer: tuple[str, ...] = ()

    @property
    def drawings(self) -> tuple[Drawing, ...]:
        """The charts alone."""
        return tuple(block for block in self.blocks if isinstance(block, Drawing))


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """How one kind of result is shown."""

    shows: str
    """Full name of the class of the result; the file is its last part in snake case."""
    verb: str
    """Command that makes it; empty where several do."""
    page: Callable[[Any], Page]
    text: Callable[[Any], str] | None = None
    """A text layout of its own, where another tool's readers expect one."""
    charts: tuple[str, ...] | None = None
    """Names of all charts that its page may have; none: they follow from the result."""


def rows_of(*rows: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Freeze the rows of a table."""
    return tuple(tuple(row) for row in rows)
