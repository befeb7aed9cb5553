"""HTML: one file that opens offline: tables, charts as SVG, the JSON, the command to copy."""

import re
from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any, Final

from weft.report.escape import json_text, visible
from weft.report.page import Block, Drawing, Entries, Page, Renderer, Rendering, Sentences
from weft.report.plain import document

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
    # "</script>" or "<!--" inside a string would end the element that holds it.
    held = json_text(document(rendering.result), indent=None).rstrip().replace("<", "\\u003c")
    shown = _environment().get_template("page.html.j2").render(
        page=rendering.page, command=rendering.command, policy=_policy(),
        style=_asset("page.css"), script=_script(), document=held,
    )  # fmt: skip
    return str(shown)


def fragment(page: Page) -> str:
    """Return the body of a page, without its frame: what a notebook shows."""
    return str(_environment().get_template("fragment.html.j2").module.fragment(page))


@cache
def _environment() -> Any:  # noqa: ANN401 - of jinja2
    """Return what fills the templates: every text is made visible and escaped."""
    from jinja2 import Environment, FunctionLoader  # noqa: PLC0415 - 30 ms, for HTML alone

    made = Environment(
        loader=FunctionLoader(_asset), autoescape=True, trim_blocks=True, lstrip_blocks=True,
        finalize=lambda value: visible(value) if type(value) is str else value,
        keep_trailing_newline=True,
    )  # fmt: skip
    made.filters |= {
        "anchor": anchor, "drawn": _drawn, "is_filled": _is_filled,
        "kind": lambda block: type(block).__name__,
    }  # fmt: skip
    return made


def anchor(title: str) -> str:
    """Return what a link to the part of a page with this title ends in.

    >>> anchor("ECC and row remap")
    'ecc-and-row-remap'
    """
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")


def _is_filled(block: Block) -> bool:
    """Tell whether there is anything to show: sentences and entries may be none."""
    held = {Sentences: "lines", Entries: "items"}.get(type(block))
    return held is None or bool(getattr(block, held))


def _drawn(drawing: Drawing) -> str:
    from weft.report.chart import picture  # noqa: PLC0415 - a chart library takes 0.4 s to load

    svg = picture(drawing, "svg").decode("utf-8")
    for old, new in _ADAPT:
        svg = svg.replace(old, new)
    return svg


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
