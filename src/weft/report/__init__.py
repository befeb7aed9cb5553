"""Showing results: the only place that rounds, lays out and draws.

``show(result, "text")`` gives text, ``show(result, "json")`` the one JSON document, and so on;
``picture(result, "step_breakdown", "svg")`` gives a chart. Formats, views and charts are files.
"""

import shutil
from typing import Any, Final

from weft import plugins
from weft.errors import UnknownName
from weft.report import renderers, views
from weft.report.page import SCREEN_LINES, Renderer, Rendering, View
from weft.report.plain import kind_of

__all__ = ["charts_of", "formats", "has_format", "picture", "show", "view_of"]

SCREEN_WIDTH: Final = 80
"""Columns of the first screen where nobody says how wide the reader is."""
PIPE_WIDTH: Final = 120
"""Columns of the full text there: its tables are wider."""


def formats(kind: str = "") -> list[str]:
    """List the output formats of any result, or of one kind of result with its own."""
    names = plugins.names(renderers)
    kinds = {name: plugins.load(renderers, name, Renderer).kinds for name in names}
    return [name for name in names if not kinds[name] or kind in kinds[name]]


def has_format(output: str, kind: str = "") -> bool:
    """Tell whether a format shows a kind of result; no other format is imported."""
    if output not in plugins.names(renderers):
        return False
    kinds = plugins.load(renderers, output, Renderer).kinds
    return not kinds or kind in kinds


def view_of(cls: type) -> View:
    """Find the view of a result's class; a plain listing of its fields where there is none."""
    name = kind_of(cls)
    if name in plugins.names(views):
        return plugins.load(views, name, View)
    return plugins.load(views, "anything", View)


def show(
    result: Any,  # noqa: ANN401 - any result
    output: str = "text",
    *,
    terminal: bool = False,
    width: int | None = None,
    command: str = "",
    full: bool = True,
) -> str:
    """Render one result in one format, as text that ends with a line break.

    Without ``full``, text is cut to the first screen; other formats hold everything.
    """
    renderer = plugins.load(renderers, output, Renderer)
    kind = kind_of(type(result))
    if not has_format(output, kind):
        raise UnknownName(
            f"{output} cannot show a {kind}; there are: {', '.join(formats(kind))}"
        )
    return renderer.render(
        Rendering(
            result=result,
            view=view_of(type(result)),
            terminal=terminal,
            width=width or _columns(full=full),
            command=command,
            full=full,
        )
    )


def _columns(*, full: bool) -> int:
    unknown = PIPE_WIDTH if full else SCREEN_WIDTH
    return shutil.get_terminal_size((unknown, SCREEN_LINES)).columns


def charts_of(kind: str) -> tuple[str, ...] | None:
    """List the charts that one kind of result may have; none where only results know."""
    return plugins.load(views, kind, View).charts


def picture(result: Any, name: str | None, form: str) -> bytes:  # noqa: ANN401 - any result
    """Draw one chart of a result, the first where none is named, as ``svg`` or ``png``."""
    from weft.report.chart import draw  # noqa: PLC0415 - a chart library takes 0.4 s to load

    return draw(view_of(type(result)).page(result), name, form)
