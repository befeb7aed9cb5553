"""Text: plain aligned columns; on a terminal the same with colours, through rich."""

import textwrap
from collections.abc import Iterator
from itertools import zip_longest

from weft.report.page import Block, Entries, Facts, Page, Sentences, Table
from weft.report.renderer import Renderer, Rendering

GAP = "  "
LEAST_WORDS = 18
"""Narrowest column of words: below that a table cannot be read."""
WIDEST_PROSE = 96
"""Prose wider than this is hard to follow from one line to the next."""


def _render(rendering: Rendering) -> str:
    if rendering.view.text is not None:
        return rendering.view.text(rendering.result)
    if rendering.terminal:
        return _coloured(rendering.page, rendering.width)
    return "\n".join(_plain(rendering.page, rendering.width)).rstrip() + "\n"


def _plain(page: Page, width: int) -> Iterator[str]:
    yield from (page.title, "=" * min(len(page.title), width), "")
    for block in page.blocks:
        lines = list(_block(block, width))
        if lines:
            yield from ([block.title, ""] if block.title else [])
            yield from (*lines, "")
    for line in page.footer:
        yield from _wrapped(line, width, "", "")


def _block(block: Block, width: int) -> Iterator[str]:
    if isinstance(block, Table):
        yield from _table(block, width)
        yield from (line for note in block.notes for line in _wrapped(note, width, "", ""))
    elif isinstance(block, Facts):
        widest = max((len(name) for name, _ in block.pairs), default=0)
        yield from (f"{name:<{widest}}  {value}".rstrip() for name, value in block.pairs)
    elif isinstance(block, Entries):
        for item in block.items:
            yield from _wrapped(f"{item.head}: {item.text}", width, "", "    ")
            for line in item.lines:
                yield from _wrapped(line, width, "  - ", "    ")
    elif isinstance(block, Sentences):
        mark = "- " if len(block.lines) > 1 else ""
        for line in block.lines:
            yield from _wrapped(line, width, mark, " " * len(mark))


def _wrapped(line: str, width: int, first: str, others: str) -> list[str]:
    return textwrap.wrap(
        line, min(width, WIDEST_PROSE), initial_indent=first, subsequent_indent=others
    )


def _table(table: Table, width: int) -> Iterator[str]:
    widths = _widths(table, width)

    def line(cells: tuple[str, ...]) -> Iterator[str]:
        wrapped = [_cell_lines(c, w) for c, w in zip(cells, widths, strict=True)]
        for parts in zip_longest(*wrapped, fillvalue=""):
            padded = [
                part.ljust(wide) if place in table.left else part.rjust(wide)
                for place, (part, wide) in enumerate(zip(parts, widths, strict=True))
            ]
            yield GAP.join(padded).rstrip()

    yield from line(table.columns)
    yield GAP.join("-" * wide for wide in widths)
    for row in table.rows:
        yield from line(row)


def _cell_lines(cell: str, width: int) -> list[str]:
    """Wrap a cell at its spaces: names with hyphens stay whole."""
    return textwrap.wrap(cell, width, break_long_words=False, break_on_hyphens=False) or [""]


def _widths(table: Table, width: int) -> list[int]:
    """Give every column what it needs; where that is too much, words wrap, numbers do not."""
    widths = [max(map(len, column)) for column in zip(table.columns, *table.rows, strict=True)]
    excess = sum(widths) + len(GAP) * (len(widths) - 1) - width
    least = {place: max(LEAST_WORDS, _longest_word(table, place)) for place in table.left}
    while excess > 0:
        loose = [place for place in table.left if widths[place] > least[place]]
        if not loose:
            break  # numbers alone are too wide: the reader scrolls, nothing is cut
        widest = max(loose, key=lambda place: widths[place])
        step = min(excess, max(1, (widths[widest] - least[widest]) // 4))
        widths[widest] -= step
        excess -= step
    return [max(1, wide) for wide in widths]


def _longest_word(table: Table, place: int) -> int:
    cells = (table.columns[place], *(row[place] for row in table.rows))
    return max((len(word) for cell in cells for word in cell.split()), default=0)


def _coloured(page: Page, width: int) -> str:
    from rich.console import Console  # noqa: PLC0415 - a terminal only
    from rich.text import Text  # noqa: PLC0415 - as above

    console = Console(width=width)
    with console.capture() as capture:
        console.print(Text(page.title, style="bold"))
        console.print()
        for block in page.blocks:
            if isinstance(block, Table):
                console.print(_rich_table(block))
                for note in block.notes:
                    console.print(Text(note, style="dim"))
                console.print()
            else:
                lines = list(_block(block, width))
                if lines and block.title:
                    console.print(Text(block.title, style="bold"))
                for line in lines:
                    console.print(Text(line))
                if lines:
                    console.print()
        for line in page.footer:
            console.print(Text(line, style="dim"))
    return capture.get()


def _rich_table(table: Table) -> object:
    from rich import box  # noqa: PLC0415 - a terminal only
    from rich.table import Table as RichTable  # noqa: PLC0415 - as above
    from rich.text import Text  # noqa: PLC0415 - as above

    drawn = RichTable(
        title=table.title or None, box=box.SIMPLE_HEAD, title_justify="left", pad_edge=False
    )
    for place, column in enumerate(table.columns):
        drawn.add_column(Text(column), justify="left" if place in table.left else "right")
    for row in table.rows:
        drawn.add_row(*(Text(cell) for cell in row))
    return drawn


text = Renderer(title="Text", render=_render)
