"""Markdown: tables as GitHub reads them."""

from collections.abc import Iterator

from weft.report.escape import lines as own_lines
from weft.report.escape import markdown, visible
from weft.report.page import (
    Block,
    Drawing,
    Entries,
    Facts,
    Renderer,
    Rendering,
    Sentences,
    Table,
)


def _render(rendering: Rendering) -> str:
    page = rendering.page
    lines = [f"# {markdown(page.title)}", ""]
    for block in page.everything:
        shown = [] if isinstance(block, Drawing) else list(_block(block))
        if shown:
            lines += [f"## {markdown(block.title)}", ""] if block.title else []
            lines += [*shown, ""]
    lines += [f"> {markdown(line)}" for line in page.footer]
    if rendering.command:
        lines += ["", f"``{visible(rendering.command).replace('``', '')}``"]
    return own_lines("\n".join(lines).rstrip() + "\n")


def _block(block: Block) -> Iterator[str]:
    if isinstance(block, Table):
        yield from _table(block)
    elif isinstance(block, Facts):
        yield from (f"- **{markdown(name)}**: {markdown(value)}" for name, value in block.pairs)
    elif isinstance(block, Sentences):
        mark = "- " if len(block.lines) > 1 else ""
        yield from (f"{mark}{markdown(line)}" for line in block.lines)
    elif isinstance(block, Entries):
        for item in block.items:
            yield f"- **{markdown(item.head)}** {markdown(item.text)}"
            yield from (f"  - {markdown(line)}" for line in item.lines)


def _table(table: Table) -> Iterator[str]:
    yield _row(table.columns)
    yield _row([":--" if i in table.left else "--:" for i in range(len(table.columns))])
    yield from (_row(row) for row in table.rows)
    yield from (f"\n{markdown(note)}" for note in table.notes)


def _row(cells: list[str] | tuple[str, ...]) -> str:
    return "| " + " | ".join(markdown(cell).replace("|", "\\|") for cell in cells) + " |"


md = Renderer(title="Markdown", render=_render)
