"""YAML: the document of JSON, for those who read it in an editor."""

from io import StringIO
from typing import Any

from weft.report.page import Renderer, Rendering
from weft.report.plain import document


def _render(rendering: Rendering) -> str:
    from ruamel.yaml import YAML  # noqa: PLC0415 - 30 ms that other formats need not pay

    writer: Any = YAML(typ="safe", pure=True)
    writer.default_flow_style = False
    writer.sort_base_mapping_type_on_output = False  # keys stay in the order of the fields
    stream = StringIO()
    writer.dump(document(rendering.result), stream)
    return stream.getvalue()


yaml = Renderer(title="YAML", render=_render)
