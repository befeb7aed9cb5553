"""Reads the outputs of benchmarks and what stands beside them, line by line.

Each line is offered to the parser that understood the last one, then to those whose marks
stand in the same block of text, or stood in one before. The label of a launcher before a line
is left out. JSON that begins at the margin is read whole.
"""

import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields
from functools import cache
from operator import attrgetter
from pathlib import Path
from typing import Any, Final, TypeVar

import re2

from weft import plugins
from weft.observe import parsers
from weft.observe.facts.base import Fact
from weft.observe.parser import Parser, Reader, Source
from weft.readers.archives import UNREADABLE, TooLarge
from weft.readers.places import places
from weft.readers.untrusted import Bytes, Malformed, json_value

MOST_FACTS: Final = 600_000
"""Of all files together: a fact takes about half a KiB."""
MOST_BYTES: Final = 64 << 20
"""Of one JSON document."""
_LABEL: Final = re2.compile(
    r"^(?:\x1b\[[0-9;?]*[A-Za-z])+|^\[\d+(?:,\d+)?\]<std\w+>: ?|^\d{1,5}: "
)
_LABEL_BEGINS: Final = frozenset("[\x1b0123456789")
_DOCUMENT_BEGINS: Final = ("{", "[{")
_BLOCK_BYTES: Final = 1 << 20
F = TypeVar("F")


@dataclass(frozen=True, slots=True)
class Observation:
    """Facts in the order they were read; equal ones are kept once."""

    facts: tuple[Fact, ...] = ()

    def of(self, kind: type[F]) -> list[F]:
        """Return the facts of a kind."""
        return [fact for fact in self.facts if isinstance(fact, kind)]


def observe(*paths: Path) -> Observation:
    """Read files, folders and archives; what cannot be read says nothing.

    Raises Unreadable for a path that is not there.
    """
    found: dict[Any, Fact] = {}
    for place in places(*paths):
        if place.stream is None:
            continue
        source = Source(place.name, host=place.host, command=place.title)
        try:
            for fact in _facts(place.stream, source):
                if len(found) < MOST_FACTS:
                    found.setdefault(_identity(fact), fact)
        except (TooLarge, *UNREADABLE):
            continue
    return Observation(tuple(found.values()))


def read_text(text: str, file: str, host: str = "") -> list[Fact]:
    """Read a text that is at hand.

    >>> read_text("nothing a tool prints", "note.txt")
    []
    """
    found = _facts(io.BytesIO(text.encode()), Source(file, host))
    return list({_identity(fact): fact for fact in found}.values())


@cache
def all_parsers() -> tuple[tuple[str, Parser], ...]:
    """Return the parsers by name, the first to be asked first."""
    loaded = [(name, plugins.load(parsers, name, Parser)) for name in plugins.names(parsers)]
    return tuple(sorted(loaded, key=lambda item: (item[1].rank, item[0])))


def _identity(fact: Fact) -> tuple[type, object]:
    """Return what two facts must share to be the same fact: all but the evidence."""
    return type(fact), _rest(type(fact))(fact)


@cache
def _rest(kind: type) -> Callable[[Fact], object]:
    return attrgetter("evidence.file", *(f.name for f in fields(kind) if f.name != "evidence"))


def _facts(stream: Bytes, source: Source) -> Iterator[Fact]:
    session = _Session(source)
    waiting: list[tuple[int, str]] = []
    size = 0
    for number, line in enumerate(_lines(stream, session.meet), 1):
        text = str(_LABEL.sub("", line)) if line[:1] in _LABEL_BEGINS else line
        if not (waiting or text == "[" or text.startswith(_DOCUMENT_BEGINS)):
            yield from session.take(text, number)
            continue
        waiting.append((number, text))
        size += len(text)
        if text.rstrip() in {"}", "]"} or len(waiting) == 1:
            facts = _document("\n".join(text for _, text in waiting), source, waiting[0][0])
            if facts is not None:
                yield from facts
                waiting, size = [], 0
        if size > MOST_BYTES:
            break
    for number, text in waiting:  # it looked like a document and was none
        yield from session.take(text, number)
    yield from session.end()


def _document(text: str, source: Source, number: int) -> list[Fact] | None:
    """Return the facts of a JSON document; none of one that no parser knows; else None."""
    try:
        value = json_value(text)
    except Malformed:
        return None
    for _, parser in all_parsers():
        facts = parser.document(value, source, number) if parser.document else None
        if facts is not None:
            return list(facts)
    return []


def _lines(stream: Bytes, meet: Callable[[str], None]) -> Iterator[str]:
    """Yield the lines of a stream; ``meet`` is told each block of them before."""
    rest = b""
    while data := stream.read(_BLOCK_BYTES):
        rest = rest[-_BLOCK_BYTES:]  # A longer line is cut.
        block, newline, rest = (rest + data).rpartition(b"\n")
        if not newline:
            continue
        text = block.decode("utf-8", "replace")
        meet(text)
        yield from (line.rstrip("\r") for line in text.split("\n"))
    if rest:
        text = rest.decode("utf-8", "replace")
        meet(text)
        yield text


@dataclass(slots=True)
class _Session:
    """The readers at work on one text."""

    source: Source
    readers: dict[str, Reader] = field(default_factory=dict)
    active: str = ""

    def meet(self, block: str) -> None:
        """Begin the readers of the tools whose marks a block of lines holds."""
        for name, parser in all_parsers():
            if parser.reader is None or name in self.readers:
                continue
            if any(mark in block for mark in parser.marks):
                self.readers[name] = parser.reader(self.source)

    def take(self, text: str, number: int) -> Iterator[Fact]:
        """Yield the facts of a line: the reader of the last line is asked first."""
        if self.active:
            facts = self.readers[self.active].take(text[: self._longest(self.active)], number)
            if facts is not None:
                yield from facts
                return
        for name, parser in all_parsers():
            if name == self.active or name not in self.readers:
                continue
            facts = self.readers[name].take(text[: parser.longest], number)
            if facts is not None:
                self.active = name
                yield from facts
                return
        if text.strip():
            self.source.command = text  # What nobody prints was typed.

    def end(self) -> Iterator[Fact]:
        """Yield what the readers have kept to the end."""
        for reader in self.readers.values():
            yield from reader.end()

    def _longest(self, name: str) -> int:
        return dict(all_parsers())[name].longest
