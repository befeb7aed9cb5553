"""HTML: one file that opens offline: tables, charts as SVG, the JSON, the command to copy."""

import re
from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha256
from importlib.resources import files
from typing import Final

from weft.report.escape import html as html_text
from weft.report.escape import json_text
from weft.report.page import Block, Drawing, Entries, Facts, Page, Sentences, Table
from weft.report.plain import document
from weft.report.renderer import Renderer, Rendering

_ADAPT: Final = (
    ('fill="white"', 'fill="none"'),
    ('fill="#24292f"', 'fill="currentColor"'),
    ('stroke="#24292f"', 'stroke="currentColor"'),
    ('stroke="#57606a"', 'stroke="currentColor" stroke-opacity="0.6"'),
    ('stroke="#d8dee4"', 'stroke="currentColor" stroke-opacity="0.18"'),
    ('stroke="white"', 'stroke="none"'),
)
"""Ink becomes the colour of the page's text, so that charts follow light and dark."""


def _render(rendering: Rendering) -> str:
    page = rendering.page
    return "\n".join(
        (
            "<!doctype html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{_policy()}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">',
            f"<title>{html_text(page.title)}</title>",
            f"<style>\n{_asset('page.css')}</style>",
            "</head>",
            "<body>",
            *fragment(page),
            *_command(rendering.command),
            f'<script type="application/json" id="result">{_json(rendering)}</script>',
            f"<script>{_script()}</script>",
            "</body>",
            "</html>",
            "",
        )
    )


def fragment(page: Page) -> Iterator[str]:
    """Yield the body of a page, without its frame: what a notebook shows."""
    yield f"<main><h1>{html_text(page.title)}</h1>"
    for block in page.everything:
        lines = list(_block(block))
        if lines:
            yield f'<section id="{anchor(block.title)}">' if block.title else "<section>"
            if block.title and not isinstance(block, Drawing):  # charts bear their own
                yield f"<h2>{html_text(block.title)}</h2>"
            yield from lines
            yield "</section>"
    yield "<footer>"
    yield from (f"<p>{html_text(line)}</p>" for line in page.footer)
    yield "</footer></main>"


def anchor(title: str) -> str:
    """Return what a link to the part of a page with this title ends in.

    >>> anchor("ECC and row remap")
    'ecc-and-row-remap'
    """
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")


def _block(block: Block) -> Iterator[str]:
    if isinstance(block, Table):
        yield from _table(block)
    elif isinstance(block, Facts):
        yield "<dl>"
        for name, value in block.pairs:
            yield f"<div><dt>{html_text(name)}</dt><dd>{html_text(value)}</dd></div>"
        yield "</dl>"
    elif isinstance(block, Sentences):
        yield from _prose(block.lines)
    elif isinstance(block, Entries):
        for item in block.items:
            yield "<details><summary>"
            yield f"<strong>{html_text(item.head)}</strong> {html_text(item.text)}</summary>"
            yield from _prose(item.lines)
            yield "</details>"
    else:
        yield _chart(block)


def _prose(lines: tuple[str, ...]) -> Iterator[str]:
    if len(lines) == 1:
        yield f"<p>{html_text(lines[0])}</p>"
    elif lines:
        yield "<ul>"
        yield from (f"<li>{html_text(line)}</li>" for line in lines)
        yield "</ul>"


def _table(table: Table) -> Iterator[str]:
    yield '<div class="wide"><table><thead>'
    yield _row("th", table.columns, table.left)
    yield "</thead><tbody>"
    yield from (_row("td", row, table.left) for row in table.rows)
    yield "</tbody></table></div>"
    yield from (f'<p class="note">{html_text(note)}</p>' for note in table.notes)


def _row(tag: str, cells: tuple[str, ...], left: tuple[int, ...]) -> str:
    shown = (
        f"<{tag}{' class=words' if place in left else ''}>{html_text(cell)}</{tag}>"
        for place, cell in enumerate(cells)
    )
    return f"<tr>{''.join(shown)}</tr>"


def _chart(drawing: Drawing) -> str:
    from weft.report.chart import picture  # noqa: PLC0415 - a chart library takes 0.4 s to load

    svg = picture(drawing, "svg").decode("utf-8")
    for old, new in _ADAPT:
        svg = svg.replace(old, new)
    return f'<figure role="img" aria-label="{html_text(drawing.title)}">{svg}</figure>'


def _command(command: str) -> Iterator[str]:
    if command:
        yield '<p class="command">'
        yield '<button type="button" data-copy="command">copy as command</button>'
        yield '<button type="button" data-copy="result">copy as JSON</button>'
        yield f'<code id="command">{html_text(command)}</code></p>'


def _json(rendering: Rendering) -> str:
    # "</script>" or "<!--" inside a string would end the element that holds it.
    text = json_text(document(rendering.result), indent=None).rstrip()
    return text.replace("<", "\\u003c")


def _script() -> str:
    return f"\n{_asset('page.js')}"


def _policy() -> str:
    """Return what the page may do: its own style, its one script, nothing from outside."""
    digest = b64encode(sha256(_script().encode()).digest()).decode()
    return (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _asset(name: str) -> str:
    return (files("weft.report") / "assets" / name).read_text("utf-8")


html = Renderer(title="HTML", render=_render)
