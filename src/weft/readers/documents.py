"""JSON, XML, objects in YAML: parsed by a library, read by rows and by parsers of a kind."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from weft import plugins
from weft.readers import document_kinds, tree
from weft.readers.scribe import Scribe
from weft.readers.untrusted import (
    Lines,
    Malformed,
    is_yaml_object,
    json_lines,
    json_value,
    xml_value,
    yaml_documents,
)

Reader = Callable[[Any, str, Scribe], bool]


class Document:
    """A kind of document: how it is recognised and read."""

    def __init__(self, name: str, reads: Reader) -> None:
        """Name a kind of document; ``reads`` returns whether it was one."""
        self.name, self.reads = name, reads


@dataclass(frozen=True, slots=True)
class Parsed:
    """A document that a kind may know."""

    name: str
    reads: Reader
    value: Any
    lines: Lines
    """Where its objects begin."""
    first: int
    """The line on which it begins."""

    def read(self, title: str, scribe: Scribe) -> bool:
        """Record what the document states; return whether it is of this kind."""
        return self.reads(self.value, title, scribe)


def kinds_of(data: bytes, lines_before: int = 0) -> Iterator[Parsed]:
    """Yield what may know a document, which is parsed once; nothing for what is none.

    ``lines_before`` are those of the file that stand before it.
    """
    whole = data.decode("utf-8", "replace")
    text = whole.lstrip("\ufeff \t\r\n")
    before = lines_before + whole[: len(whole) - len(text)].count("\n")
    try:
        value, lines = _value(text)
    except Malformed:
        return
    if before:
        lines = Lines((place, line + before) for place, line in lines.items())
    yield Parsed("objects", _objects(lines), value, lines, before + 1)
    for name in plugins.names(document_kinds):
        kind = plugins.load(document_kinds, name, Document)
        yield Parsed(kind.name, kind.reads, value, lines, before + 1)


def _value(text: str) -> tuple[Any, Lines]:
    if text.startswith("<"):
        return xml_value(text)
    if is_yaml_object(text):
        documents = yaml_documents(text)
        lines = Lines(line for document in documents for line in document.lines.items())
        return [document.value for document in documents], lines
    value = json_value(text)
    return value, json_lines(text, value)


def _objects(lines: Lines) -> Reader:
    """Return a reader of the objects that rows know."""

    def reads(value: Any, title: str, scribe: Scribe) -> bool:  # noqa: ANN401 - any JSON
        del title
        return bool(tree.read(value, lines, scribe))

    return reads
