"""Text: plain aligned columns; on a terminal the same with colours, through rich."""

import textwrap
from collections.abc import Iterator
from itertools import zip_longest

from weft.report.page import Block, Entries, Facts, Page, Sentences, Table
from weft.report.renderer import Renderer, Rendering

GAP = "  "
PLAIN, HEAD, NOTE = "", "bold", "dim"
LEAST_WORDS = 18
"""Narrowest column of words: below that a table cannot be read."""
WIDEST_PROSE = 96
"""Prose wider than this is hard to follow from one line to the next."""


def _render(rendering: Rendering) -> str:
    if rendering.view.text is not None:
        return rendering.view.text(rendering.result)
    lines = list(_lines(rendering.page, rendering.width, stack=rendering.terminal))
    if rendering.terminal:
        return _coloured(lines)
    return "\n".join(text for _, text in lines).rstrip() + "\n"


def _lines(page: Page, width: int, *, stack: bool) -> Iterator[tuple[str, str]]:
    """Yield every line with its style: heads are bold and notes dim on a terminal."""
    for title in textwrap.wrap(page.title, width):
        yield HEAD, title
    yield PLAIN, "=" * min(len(page.title), width)
    yield PLAIN, ""
    for block in page.blocks:
        lines = list(_block(block, width, stack=stack))
        if lines:
            yield from [(HEAD, block.title), (PLAIN, "")] if block.title else []
            yield from (*lines, (PLAIN, ""))
    for line in page.footer:
        yield from ((NOTE, part) for part in _wrapped(line, width, "", ""))


def _block(block: Block, width: int, *, stack: bool) -> Iterator[tuple[str, str]]:
    if isinstance(block, Table):
        yield from (
            _stacked(block) if stack and not _fits(block, width) else _table(block, width)
        )
        for note in block.notes:
            yield from ((NOTE, part) for part in _wrapped(note, width, "", ""))
    elif isinstance(block, Facts):
        widest = max((len(name) for name, _ in block.pairs), default=0)
        after = " " * (widest + len(GAP))
        room = max(width, len(after) + LEAST_WORDS)
        for name, value in block.pairs:
            line = f"{name:<{widest}}{GAP}{value}".rstrip()
            wrapped = textwrap.wrap(
                line, room, subsequent_indent=after, break_long_words=False,
                break_on_hyphens=False,
            )  # fmt: skip
            yield from ((PLAIN, part) for part in (wrapped if len(line) > room else [line]))
    elif isinstance(block, Entries):
        for item in block.items:
            first = _wrapped(f"{item.head}: {item.text}", width, "", "    ")
            yield from ((PLAIN, part) for part in first)
            for line in item.lines:
                yield from ((PLAIN, part) for part in _wrapped(line, width, "  - ", "    "))
    elif isinstance(block, Sentences):
        mark = "- " if len(block.lines) > 1 else ""
        for line in block.lines:
            parts = _wrapped(line, width, mark, " " * len(mark))
            yield from ((PLAIN, part) for part in parts)


def _wrapped(line: str, width: int, first: str, others: str) -> list[str]:
    return textwrap.wrap(
        line, min(width, WIDEST_PROSE), initial_indent=first, subsequent_indent=others
    )


def _table(table: Table, width: int) -> Iterator[tuple[str, str]]:
    widths = _widths(table, width)

    def line(style: str, cells: tuple[str, ...]) -> Iterator[tuple[str, str]]:
        wrapped = [_cell_lines(c, w) for c, w in zip(cells, widths, strict=True)]
        for parts in zip_longest(*wrapped, fillvalue=""):
            padded = [
                part.ljust(wide) if place in table.left else part.rjust(wide)
                for place, (part, wide) in enumerate(zip(parts, widths, strict=True))
            ]
            yield style, GAP.join(padded).rstrip()

    yield from line(HEAD, table.columns)
    yield PLAIN, GAP.join("-" * wide for wide in widths)
    for row in table.rows:
        yield from line(PLAIN, row)


def _fits(table: Table, width: int) -> bool:
    return sum(_widths(table, width)) + len(GAP) * (len(table.columns) - 1) <= width


def _stacked(table: Table) -> Iterator[tuple[str, str]]:
    """Write each row as lines of name and value, for a terminal too narrow for its columns."""
    widest = max(map(len, table.columns))
    for row in table.rows:
        yield HEAD, row[0]
        for name, cell in zip(table.columns[1:], row[1:], strict=True):
            yield PLAIN, f"  {name:<{widest}}  {cell}".rstrip()


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
    least = {place: max(LEAST_WORDS, _longest_word(table, place)) for place in table.left}
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
    for place in sorted(numbers, key=lambda one: -spare[one]):
        if excess > 0 and spare[place] > 0:
            widths[place] -= spare[place]
            excess -= spare[place]
    return excess


def _longest_word(table: Table, place: int) -> int:
    cells = (table.columns[place], *(row[place] for row in table.rows))
    return max((len(word) for cell in cells for word in cell.split()), default=0)


def _coloured(lines: list[tuple[str, str]]) -> str:
    from rich.console import Console  # noqa: PLC0415 - a terminal only
    from rich.text import Text  # noqa: PLC0415 - as above

    console = Console(soft_wrap=True)
    with console.capture() as capture:
        for style, line in lines:
            console.print(Text(line, style=style))
    return capture.get()


text = Renderer(title="Text", render=_render)
