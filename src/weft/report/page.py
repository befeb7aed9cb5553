"""What a report is made of, before it is text, Markdown or HTML."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from operator import attrgetter
from typing import Any, Final

from weft.report import escape, numbers
from weft.results import Effect, Provenance

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
            return tuple(other - (other > place) for other in places if other != place)

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


def footer(made: Provenance) -> tuple[str, ...]:
    """Say how to get the same result again and which effects are missing from it."""
    overlay = f", overlay {made.overlay}" if made.overlay else ", no overlay"
    seed = "" if made.seed is None else f", seed {made.seed}"
    first = (
        f"weft {made.weft}, {made.engine} engine, spec {made.spec_sha256[:12]}, "
        f"catalogue {made.catalogue_sha256[:12]}{overlay}{seed}"
    )
    unseen = [effect.value for effect in Effect if effect not in made.models]
    if not unseen:
        return (first,)
    return (first, f"Not simulated, only in the sourced factors: {', '.join(unseen)}")


def _nothing(_: object) -> tuple[Block, ...]:
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """How one kind of result is shown: the parts of its page; its provenance is the footer."""

    shows: str
    """Full name of the class of the result; the file is its last part in snake case."""
    verb: str
    """Command that makes it; empty where several do."""
    title: Callable[[Any], str] = str
    answer: Callable[[Any], Iterable[Block]] = _nothing
    blocks: Callable[[Any], Iterable[Block]] = _nothing
    assumes: bool = False
    """Whether the last block says what was assumed."""
    rest: str = ""
    """What the blocks are, for the last line of the first screen; empty: their titles."""
    is_modelled: bool = True
    """Without it the footer does not say which effects the model lacks."""
    held_by: Callable[[Any], Any] = lambda result: result
    """The part of the result that has the provenance, where it is not the result."""
    whole: Callable[[Any], Page] | None = None
    """Makes the page of a result whose page is not made of these parts."""
    text: Callable[[Any], str] | None = None
    """The full text in a layout of its own, where another tool's readers expect one."""
    screen_lines: int = SCREEN_LINES
    """Most lines of the text without ``--full``, for a page that has an answer."""
    charts: tuple[str, ...] | None = None
    """Names of all charts that its page may have; none: they follow from the result."""

    def page(self, result: Any) -> Page:  # noqa: ANN401 - a result of its class
        """Return the page of a result."""
        if self.whole is not None:
            return self.whole(result)
        made = getattr(self.held_by(result), "provenance", None)
        lines = () if made is None else footer(made)
        blocks = list(self.blocks(result))
        if made is not None and self.assumes:
            blocks.append(Sentences(title="Assumptions", lines=made.assumptions))
        return Page(
            title=self.title(result), answer=tuple(self.answer(result)),
            blocks=tuple(blocks), rest=self.rest,
            footer=lines if self.is_modelled else lines[:1],
        )  # fmt: skip


Cell = str | Callable[[Any], str]
"""An attribute (``step_s``, ``group.ranks``), which is shown by its type and by the unit in its
name, or a function."""
Columns = Mapping[str, Cell]
"""What is beside each heading of a table."""


def table(
    items: Iterable[Any],
    columns: Columns,
    *,
    title: str = "",
    left: tuple[int, ...] | None = None,
    notes: tuple[str, ...] = (),
    least: tuple[int, ...] = (),
) -> Table:
    """Return a table with a row for each item; beside each heading is what its cells show.

    Without ``left``, the first column and those of attributes that are words align left.

    >>> from weft.results import Estimate
    >>> table([Estimate(2.0, 1.5, 3.0)], {"from": "low", "all": str}).rows[0][0]
    '1.50'
    """
    held = list(items)
    rows = tuple(tuple(_cell(item, cell) for cell in columns.values()) for item in held)
    if left is None:
        words = (_is_of_words(held, cell) for cell in columns.values())
        left = tuple(place for place, is_left in enumerate(words) if is_left or not place)
    return Table(
        title=title, columns=tuple(columns), rows=rows, left=left, notes=notes, least=least
    )


def _cell(item: object, cell: Cell) -> str:
    if not isinstance(cell, str):
        return cell(item)
    name = cell.removesuffix(".value").rpartition(".")[2]
    return numbers.shown(name, attrgetter(cell)(item))


def _is_of_words(items: Sequence[object], cell: Cell) -> bool:
    if not isinstance(cell, str):
        return False
    return any(isinstance(attrgetter(cell)(item), str | Enum | tuple) for item in items)


def listed(names: Sequence[str], most: int, *, between: str = ", ") -> str:
    """Join the first names and count the others.

    >>> listed(["a", "b", "c"], 2), listed(["a"], 2)
    ('a, b and 1 more', 'a')
    """
    shown = between.join(names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown


def many(count: int, what: str) -> str:
    """Count things.

    >>> many(1, "file"), many(2, "file")
    ('1 file', '2 files')
    """
    return f"{count} {what}{'' if count == 1 else 's'}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendering:
    """All that a renderer may use."""

    result: Any
    view: View
    terminal: bool = False
    """Whether a person reads it on a terminal, which takes colours and frames."""
    width: int = 96
    full: bool = True
    """Whether text holds everything, or the first screen alone."""
    command: str = ""
    """The command that made the result, to be copied."""

    @property
    def page(self) -> Page:
        """The result as tables and sentences, whose texts hold no control character."""
        return escape.page(self.view.page(self.result))


@dataclass(frozen=True, slots=True, kw_only=True)
class Renderer:
    """One output format; the file's name is what follows ``-o``."""

    title: str
    render: Callable[[Rendering], str]
    kinds: frozenset[str] = frozenset()
    """Kinds of result that it can show; empty: all of them."""
