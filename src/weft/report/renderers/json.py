"""JSON: inside numbers, their unit at the end of the key; one document."""

from json import dumps

from weft.report.plain import document
from weft.report.renderer import Renderer, Rendering


def _render(rendering: Rendering) -> str:
    return (
        dumps(document(rendering.result), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    )


json = Renderer(title="JSON", render=_render)
