"""JSON documents, alone in a file or in the midst of other text."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from weft.observe.facts import Fact
from weft.observe.parser import Parser, Source

_MOST_BYTES = 1 << 25
_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"')
_BEGINS = re.compile(r'\s*(?:\{\s*$|\{\s*"|\[\s*$|\[\s*\{)')
_TOO_DEEP = 200


@dataclass(frozen=True, slots=True)
class Outcome:
    """A document that ended: who read it and what it states, or the lines given back."""

    tool: str = ""
    facts: tuple[Fact, ...] = ()
    lines: int = 0
    returned: Sequence[tuple[str, int]] = ()


@dataclass(slots=True)
class DocumentCollector:
    """Gathers the lines of a document until its brackets close."""

    source: Source
    parsers: Sequence[Parser]
    _lines: list[tuple[str, int]] = field(default_factory=list)
    _depth: int = 0
    _size: int = 0

    @property
    def open(self) -> bool:
        """Return whether a document has begun and not ended."""
        return bool(self._lines)

    def begins(self, line: str) -> bool:
        """Return whether a line may be the first of a document."""
        return _BEGINS.match(line) is not None

    def add(self, line: str, number: int) -> Outcome | None:
        """Take a line; return the outcome when the document ended with it."""
        self._lines.append((line, number))
        self._size += len(line)
        bare = _STRING.sub("", line)
        self._depth += bare.count("{") + bare.count("[") - bare.count("}") - bare.count("]")
        if self._depth > 0 and self._depth < _TOO_DEEP and self._size < _MOST_BYTES:
            return None
        return self._ended()

    def abandon(self) -> Sequence[tuple[str, int]]:
        """Give back the lines of a document that never ended."""
        lines, self._lines, self._depth, self._size = self._lines, [], 0, 0
        return lines

    def _ended(self) -> Outcome:
        lines = self.abandon()
        try:
            value = json.loads("\n".join(text for text, _ in lines))
        except (ValueError, RecursionError):
            return Outcome(returned=lines)
        for parser in self.parsers:
            facts = (
                parser.document(value, self.source, lines[0][1]) if parser.document else None
            )
            if facts is not None:
                return Outcome(parser.tool, tuple(facts), len(lines))
        return Outcome(returned=lines)
