"""JSON: inside numbers, their unit at the end of the key; one document."""

from weft.report import escape
from weft.report.page import Renderer, Rendering
from weft.report.plain import document


def _render(rendering: Rendering) -> str:
    return escape.json_text(document(rendering.result))


json = Renderer(title="JSON", render=_render)
