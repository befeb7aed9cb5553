"""Charts: a drawing's rows in, one Vega-Lite picture out, the same everywhere.

A chart is a function in ``charts`` that returns an altair chart without title and style.

Colours are those of Okabe and Ito, which people with any colour vision tell apart; no chart
says something by colour alone.
"""

import re
from types import FunctionType
from typing import Any, Final

from weft import plugins
from weft.errors import UnknownName
from weft.report import charts
from weft.report.page import Drawing, Page

FORMS: Final = ("svg", "png")
PNG_SCALE: Final = 2.0
"""Pixels per point: sharp on the screens of today."""

INK, MUTED, GRID = "#24292f", "#57606a", "#d8dee4"
BLUE, ORANGE, GREEN, RED = "#0072b2", "#e69f00", "#009e73", "#d55e00"
SKY, PURPLE, YELLOW, SLATE = "#56b4e9", "#cc79a7", "#f0e442", "#4b5563"
PALE = "#c2dcec"
"""Blue at a fifth of its strength: bands."""
PALETTE: Final = (BLUE, ORANGE, GREEN, RED, PURPLE, SKY, SLATE, YELLOW, MUTED)
"""Colours of groups, in turn."""
FONT: Final = "DejaVu Sans, Helvetica, Arial, sans-serif"

WIDTH, ROW_HEIGHT, HEIGHT = 640, 34, 320


def draw(page: Page, name: str | None, form: str) -> bytes:
    """Draw one chart of a page as SVG or PNG."""
    if form not in FORMS:
        raise UnknownName(f"a chart cannot be a {form!r} file; there are: {', '.join(FORMS)}")
    return picture(_pick(page, name), form)


def _pick(page: Page, name: str | None) -> Drawing:
    if not page.drawings:
        raise UnknownName(f"{page.title}: this result has no chart; leave --chart out")
    for drawing in page.drawings:
        if name in (None, drawing.name or drawing.chart):
            return drawing
    known = ", ".join(drawing.name or drawing.chart for drawing in page.drawings)
    raise UnknownName(f"this result has no chart called {name!r}; there are: {known}")


def picture(drawing: Drawing, form: str) -> bytes:
    """Draw a drawing as SVG or PNG."""
    import vl_convert  # noqa: PLC0415 - 60 ms, and a V8 that only charts need

    spec = specification(drawing)
    if form == "png":
        return bytes(vl_convert.vegalite_to_png(spec, scale=PNG_SCALE))
    return _adaptive(str(vl_convert.vegalite_to_svg(spec))).encode("utf-8")


def specification(drawing: Drawing) -> dict[str, Any]:
    """Return the Vega-Lite specification of a drawing."""
    chart = plugins.load(charts, drawing.chart, FunctionType)(drawing)
    styled = (
        chart.properties(title=drawing.title, background="white")
        .configure(font=FONT, padding=14)
        .configure_view(stroke=None)
        .configure_axis(
            labelColor=INK, titleColor=INK, gridColor=GRID, domainColor=MUTED, tickColor=MUTED,
            labelFontSize=12, titleFontSize=12, titleFontWeight="normal", labelLimit=260,
        )
        .configure_legend(
            labelColor=INK, titleColor=INK, labelFontSize=12, titleFontSize=12, orient="top",
            symbolType="square", labelLimit=260, title=None,
        )
        .configure_title(color=INK, fontSize=15, anchor="start", offset=12)
        .configure_text(color=INK, font=FONT)
    )  # fmt: skip
    specification: dict[str, Any] = styled.to_dict()
    return specification


def _adaptive(svg: str) -> str:
    """Give an SVG a view box instead of a fixed size, so that a page can scale it."""
    return re.sub(
        r'width="(\d+)" height="(\d+)"',
        r'width="\1" height="\2" style="max-width:100%;height:auto"',
        svg,
        count=1,
    )
