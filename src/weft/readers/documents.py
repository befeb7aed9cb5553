"""JSON and XML documents: parsed by a library, then read by what knows their kind."""

import json
from collections.abc import Callable
from typing import Any

from weft import plugins
from weft.readers import document_kinds
from weft.readers.scribe import Scribe

Reader = Callable[[Any, str, Scribe], bool]


class Document:
    """A kind of document: how it is recognised and read."""

    def __init__(self, name: str, reads: Reader) -> None:
        """Name a kind of document; ``reads`` returns whether it was one."""
        self.name, self.reads = name, reads


def read_document(data: bytes, title: str, scribe: Scribe) -> str:
    """Read a document; return the name of its kind, or an empty text where none knows it."""
    parsed = _parsed(data)
    if parsed is None:
        return ""
    for name in plugins.names(document_kinds):
        kind = plugins.load(document_kinds, name, Document)
        if kind.reads(parsed, title, scribe):
            return kind.name
    return ""


def _parsed(data: bytes) -> Any:  # noqa: ANN401 - whatever JSON or XML holds
    text = data.decode("utf-8", "replace").lstrip("\ufeff \t\r\n")
    if text[:1] in "[{":
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return None
    return None
