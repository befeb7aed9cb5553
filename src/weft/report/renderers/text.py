"""Text: plain aligned columns; on a terminal the same with colours, through rich."""

import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain, zip_longest

from weft.report import escape
from weft.report.page import (
    Block,
    Drawing,
    Entries,
    Entry,
    Facts,
    Page,
    Renderer,
    Rendering,
    Sentences,
    Table,
)

GAP = "  "
PLAIN, HEAD, NOTE = "", "bold", "dim"
Line = tuple[str, str]
"""A style and the text that it is for."""
LEAST_LINES = 3
"""Lines of a block that blocks before it on the first screen leave room for."""
MORE_LINES = 2
"""Lines that name what ``--full`` adds."""
LEAST_WORDS = 18
"""Narrowest column of words: below that a table cannot be read."""
WIDEST_PROSE = 96
"""Prose wider than this is hard to follow from one line to the next."""


def _render(rendering: Rendering) -> str:
    page, view = rendering.page, rendering.view
    if page.answer and not rendering.full:
        lines = list(
            _screen(page, rendering.width, view.screen_lines, stack=rendering.terminal)
        )
    elif view.text is not None:
        return escape.lines(view.text(rendering.result))
    else:
        lines = list(_lines(page, rendering.width, stack=rendering.terminal))
    if rendering.terminal:
        return _coloured(lines)
    return escape.lines("\n".join(text for _, text in lines).rstrip() + "\n")


def _lines(page: Page, width: int, *, stack: bool) -> Iterator[Line]:
    """Yield every line with its style: heads are bold and notes dim on a terminal."""
    for title in _wrapped_title(page, width):
        yield HEAD, title
    yield PLAIN, "=" * min(len(page.title), width)
    yield PLAIN, ""
    for block in page.everything:
        lines = _laid(block, width, stack=stack).lines
        if lines:
            yield from [(HEAD, block.title), (PLAIN, "")] if block.title else []
            yield from (*lines, (PLAIN, ""))
    for line in page.footer:
        yield from ((NOTE, part) for part in _wrapped(line, width, "", ""))


def _screen(page: Page, width: int, most_lines: int, *, stack: bool) -> Iterator[Line]:
    """Yield the answer in so many lines; the last names what had no room."""
    title = [(HEAD, part) for part in _wrapped_title(page, width)]
    narrow = [_narrowed(block, width) for block in page.answer]
    blocks = [(block, _laid(block, width, stack=stack)) for block in narrow]
    blocks = [(block, laid) for block, laid in blocks if laid.items]
    titles = [block.title for block in page.blocks if block.title and _holds(block)]
    rest = [page.rest] if page.rest else titles
    left = most_lines - len(title) - 1 - MORE_LINES
    fitting = list(_fitting(blocks, left))
    whole = len(fitting) == len(blocks)
    yield from (*title, (PLAIN, ""))
    for place, (block, laid) in enumerate(fitting):
        head = [(HEAD, block.title)] if block.title else []
        following = sum(_least(*later) for later in fitting[place + 1 :])
        shown = laid.within(left - following - len(head) - 1)
        yield from (*head, *shown, (PLAIN, ""))
        left -= len(head) + len(shown) + 1
        whole = whole and shown == laid.lines
    rest = [*(block.title for block, laid in blocks if (block, laid) not in fitting), *rest]
    if rest or not whole:
        yield from ((NOTE, part) for part in _more(rest, width))


def _fitting(
    blocks: Iterable[tuple[Block, "_Laid"]], lines: int
) -> Iterator[tuple[Block, "_Laid"]]:
    """Yield the blocks of which the least has room, the first before those after them."""
    for block, laid in blocks:
        if (least := _least(block, laid)) <= lines:
            lines -= least
            yield block, laid


def _more(titles: list[str], width: int) -> list[str]:
    """Name what ``--full`` adds, in as many lines as are kept for it."""
    names = ", ".join(_lowered(name) for name in dict.fromkeys(titles) if name)
    text = f"More with --full: {names}." if names else "More with --full."
    return textwrap.wrap(text, width, max_lines=MORE_LINES, placeholder=" ...")


def _lowered(title: str) -> str:
    """Begin a title in lower case inside a sentence; abbreviations stay as they are."""
    return title if title[1:2].isupper() else f"{title[:1].lower()}{title[1:]}"


def _holds(block: Block) -> bool:
    parts = (getattr(block, name, ()) for name in ("rows", "pairs", "items", "lines"))
    return not isinstance(block, Drawing) and any(parts)


def _least(block: Block, laid: "_Laid") -> int:
    """Return the lines that a block is kept for while blocks before it are laid.

    A block that would lose a line or two is kept whole: a line has to count what is cut.
    """
    whole, cut = len(laid.lines), len(laid.head) + LEAST_LINES
    return (cut if whole > cut + 2 else whole) + bool(block.title) + 1


@dataclass(frozen=True, slots=True, kw_only=True)
class _Laid:
    """The lines of a block: what always stands, one group an item, what ends it."""

    head: list[Line] = field(default_factory=list)
    items: list[list[Line]]
    tail: list[Line] = field(default_factory=list)

    @property
    def lines(self) -> list[Line]:
        return [*self.head, *chain.from_iterable(self.items), *self.tail]

    def within(self, most_lines: int) -> list[Line]:
        """Return whole items in so many lines, with a last line that counts the others."""
        if len(self.lines) <= most_lines:
            return self.lines
        if len(self.lines) - len(self.tail) <= most_lines:
            return [*self.head, *chain.from_iterable(self.items)]
        room, shown = most_lines - len(self.head) - 1, list[Line]()
        for place, item in enumerate(self.items):
            if len(shown) + len(item) > room and shown:
                left = len(self.items) - place
                return [*self.head, *shown, (NOTE, f"... and {left} more")]
            shown += item[: max(room, 1)]
        return [*self.head, *shown]


def _laid(block: Block, width: int, *, stack: bool) -> _Laid:
    if isinstance(block, Table):
        return _laid_table(block, width, stack=stack)
    if isinstance(block, Facts):
        return _Laid(items=_facts(block, width))
    if isinstance(block, Entries):
        return _Laid(items=[_entry(item, width) for item in block.items])
    if isinstance(block, Sentences):
        mark = "- " if len(block.lines) > 1 else ""
        wrapped = (_wrapped(line, width, mark, " " * len(mark)) for line in block.lines)
        return _Laid(items=[[(PLAIN, part) for part in parts] for parts in wrapped])
    return _Laid(items=[])


def _facts(block: Facts, width: int) -> list[list[Line]]:
    widest = max((len(name) for name, _ in block.pairs), default=0)
    after = " " * (widest + len(GAP))
    room = max(width, len(after) + LEAST_WORDS)

    def wrapped(line: str) -> list[str]:
        if len(line) <= room:
            return [line]
        return textwrap.wrap(
            line, room, subsequent_indent=after, break_long_words=False, break_on_hyphens=False
        )

    lines = (f"{name:<{widest}}{GAP}{value}".rstrip() for name, value in block.pairs)
    return [[(PLAIN, part) for part in wrapped(line)] for line in lines]


def _entry(item: Entry, width: int) -> list[Line]:
    first = _wrapped(f"{item.head}: {item.text}", width, "", "    ")
    others = (part for line in item.lines for part in _wrapped(line, width, "  - ", "    "))
    return [(PLAIN, part) for part in (*first, *others)]


def _wrapped_title(page: Page, width: int) -> list[str]:
    return _whole_percents(page.title, width)


def _wrapped(line: str, width: int, first: str, others: str) -> list[str]:
    return _whole_percents(line, min(width, WIDEST_PROSE), first, others)


def _whole_percents(text: str, width: int, first: str = "", others: str = "") -> list[str]:
    """Wrap a text at its spaces; numbers keep their per cent signs, addresses are whole.

    >>> _whole_percents("slower by 40.5 %", 15)
    ['slower by', '40.5 %']
    """
    parts = textwrap.wrap(
        text.replace(" %", "\u00a0%"), width, initial_indent=first, subsequent_indent=others,
        break_on_hyphens=False, break_long_words="://" not in text,
    )  # fmt: skip
    return [part.replace("\u00a0", " ") for part in parts]


def _laid_table(table: Table, width: int, *, stack: bool) -> _Laid:
    notes = [(NOTE, p) for note in table.notes for p in _wrapped(note, width, "", "")]
    if stack and not _fits(table, width):
        return _Laid(items=[_stacked(table, row) for row in table.rows], tail=notes)
    widths = _widths(table, width)

    def line(style: str, cells: tuple[str, ...]) -> Iterator[Line]:
        wrapped = [_cell_lines(c, w) for c, w in zip(cells, widths, strict=True)]
        for parts in zip_longest(*wrapped, fillvalue=""):
            padded = [
                part.ljust(wide) if place in table.left else part.rjust(wide)
                for place, (part, wide) in enumerate(zip(parts, widths, strict=True))
            ]
            yield style, GAP.join(padded).rstrip()

    rule = (PLAIN, GAP.join("-" * wide for wide in widths))
    rows = [list(line(PLAIN, row)) for row in table.rows]
    return _Laid(head=[*line(HEAD, table.columns), rule], items=rows, tail=notes)


def _narrowed(block: Block, width: int) -> Block:
    """Drop the least columns of a table until every row of numbers takes one line."""
    while isinstance(block, Table) and block.least and _least_width(block) > width:
        block = block.without(block.least[0])
    return block


def _least_width(table: Table) -> int:
    """Return what a table takes with its words wrapped and its numbers whole."""
    widths = (
        min(_least_words(table, place), max((len(row[place]) for row in table.rows), default=0))
        if place in table.left
        else _narrow(table, place, banded=False)
        for place in range(len(table.columns))
    )
    return sum(widths) + len(GAP) * (len(table.columns) - 1)


def _fits(table: Table, width: int) -> bool:
    return sum(_widths(table, width)) + len(GAP) * (len(table.columns) - 1) <= width


def _stacked(table: Table, row: tuple[str, ...]) -> list[Line]:
    """Write a row as lines of name and value, for a terminal too narrow for its columns."""
    widest = max(map(len, table.columns))
    pairs = zip(table.columns[1:], row[1:], strict=True)
    return [
        (HEAD, row[0]),
        *((PLAIN, f"  {name:<{widest}}  {cell}".rstrip()) for name, cell in pairs),
    ]


def _cell_lines(cell: str, width: int) -> list[str]:
    """Wrap a cell at its spaces: names with hyphens stay whole, and bands with their units.

    >>> _cell_lines("905 [816 to 975] ms", 17), _cell_lines("905 [816 to 975] ms", 20)
    (['905', '[816 to 975] ms'], ['905 [816 to 975] ms'])
    """
    parts = _around_the_band(cell)
    if len(cell) > width and all(len(part) <= width for part in parts):
        return parts
    return textwrap.wrap(cell, width, break_long_words=False, break_on_hyphens=False) or [""]


def _around_the_band(cell: str) -> list[str]:
    """Cut a number before its band, the one place where a column of numbers may wrap."""
    value, band, rest = cell.partition(" [")
    return [value, f"[{rest}"] if band else [cell]


def _narrow(table: Table, place: int, *, banded: bool) -> int:
    """Return what a column of numbers takes with its heading wrapped, bands below or not."""
    cells = [row[place] for row in table.rows]
    parts = [part for cell in cells for part in (_around_the_band(cell) if banded else [cell])]
    return max(map(len, (*parts, *table.columns[place].split())), default=0)


def _widths(table: Table, width: int) -> list[int]:
    """Give every column what it needs; where that is too much, words wrap, numbers do not.

    Before words, headings give way; after them numbers, which put their bands below.
    """
    widths = [max(map(len, column)) for column in zip(table.columns, *table.rows, strict=True)]
    excess = sum(widths) + len(GAP) * (len(widths) - 1) - width
    numbers = [place for place in range(len(widths)) if place not in table.left]
    excess = _shrunk(table, widths, numbers, excess, banded=False)
    least = {place: _least_words(table, place) for place in table.left}
    while excess > 0:
        loose = [place for place in table.left if widths[place] > least[place]]
        if not loose:
            excess = _shrunk(table, widths, numbers, excess, banded=True)
            break  # if that is not enough the reader scrolls: nothing is cut
        widest = max(loose, key=lambda place: widths[place])
        step = min(excess, max(1, (widths[widest] - least[widest]) // 4))
        widths[widest] -= step
        excess -= step
    return [max(1, wide) for wide in widths]


def _shrunk(
    table: Table, widths: list[int], numbers: list[int], excess: int, *, banded: bool
) -> int:
    """Take what is too much off the columns of numbers that can spare most; return the rest."""
    spare = {place: widths[place] - _narrow(table, place, banded=banded) for place in numbers}
    for place in sorted(numbers, key=lambda column: -spare[column]):
        if excess > 0 and spare[place] > 0:
            widths[place] -= spare[place]
            excess -= spare[place]
    return excess


def _least_words(table: Table, place: int) -> int:
    """Return what a column of words takes at least: its longest word stays whole."""
    cells = (table.columns[place], *(row[place] for row in table.rows))
    return max((LEAST_WORDS, *(len(word) for cell in cells for word in cell.split())))


def _coloured(lines: list[tuple[str, str]]) -> str:
    from rich.console import Console  # noqa: PLC0415 - a terminal only
    from rich.text import Text  # noqa: PLC0415 - as above

    console = Console(soft_wrap=True)
    with console.capture() as capture:
        for style, line in lines:
            console.print(Text(escape.lines(line), style=style))
    return capture.get()


text = Renderer(title="Text", render=_render)
