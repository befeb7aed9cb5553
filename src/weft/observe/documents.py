"""JSON and YAML documents, alone in a file or in the midst of other text.

A JSON document ends where its brackets close. A YAML document is one of Kubernetes: it begins
with ``apiVersion`` or ``kind`` at the margin and goes on while lines are indented or are keys.
"""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from weft.observe.envelopes import unfolded
from weft.observe.facts.base import Fact
from weft.observe.inside import texts
from weft.observe.parser import Parser, Source

_MOST_BYTES = 1 << 25
_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"')
_BEGINS = re.compile(r'\s*(?:\{\s*$|\{\s*"|\[\s*$|\[\s*\{)')
_TOO_DEEP = 200
_YAML_BEGINS = re.compile(r"(?:apiVersion: \S|kind: [A-Z]\w+\s*$)")
_YAML_GOES_ON = re.compile(r"\s|- |-$|#|[A-Za-z][\w.-]{0,60}:(?: |$)")
_YAML_MOST_BYTES = 1 << 22
_YAML_TOO_DEEP = 60
_YAML_ODD = re.compile(
    r"\*\w|[\[{]\s*[\[{]|\n[ -]{120}|(?:\[[^\]]{0,80}){4}|(?:\{[^}]{0,80}){4}"
)
"""What aliases and deep nesting cannot do without; texts that have it are looked at closely."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A document that ended: who read it and what it states, or the lines given back."""

    tool: str = ""
    facts: tuple[Fact, ...] = ()
    lines: int = 0
    returned: Sequence[tuple[str, int]] = ()
    carried: Sequence[tuple[str, int]] = ()
    """Lines of text that a document holds which itself is no tool's."""
    texts: Sequence[Sequence[tuple[str, int]]] = ()
    """Texts of their own within a document that was read."""


@dataclass(slots=True)
class DocumentCollector:
    """Gathers the lines of a document until its brackets close."""

    source: Source
    parsers: Sequence[Parser]
    _lines: list[tuple[str, int]] = field(default_factory=list)
    _depth: int = 0
    _size: int = 0
    _yaml: bool = False

    @property
    def open(self) -> bool:
        """Return whether a document has begun and not ended."""
        return bool(self._lines)

    def begins(self, line: str) -> bool:
        """Return whether a line may be the first of a document."""
        self._yaml = _YAML_BEGINS.match(line) is not None
        return self._yaml or _BEGINS.match(line) is not None

    def stops_before(self, line: str) -> bool:
        """Return whether the open document ended with the line before this one."""
        return self._yaml and (
            _YAML_GOES_ON.match(line) is None or self._size >= _YAML_MOST_BYTES
        )

    def close(self) -> Outcome:
        """Return the outcome of a document that ended, or of one cut off by the end."""
        if self._yaml and self._lines:
            return self._ended()
        return Outcome(returned=self.abandon())

    def add(self, line: str, number: int) -> Outcome | None:
        """Take a line; return the outcome when the document ended with it."""
        self._lines.append((line, number))
        self._size += len(line)
        if self._yaml:
            return None
        bare = _STRING.sub("", line)
        self._depth += bare.count("{") + bare.count("[") - bare.count("}") - bare.count("]")
        if self._depth > 0 and self._depth < _TOO_DEEP and self._size < _MOST_BYTES:
            return None
        return self._ended()

    def abandon(self) -> Sequence[tuple[str, int]]:
        """Give back the lines of a document that never ended."""
        lines, self._lines, self._depth, self._size = self._lines, [], 0, 0
        self._yaml = False
        return lines

    def _ended(self) -> Outcome:
        yaml, lines = self._yaml, self.abandon()
        text = "\n".join(text for text, _ in lines)
        try:
            value = _yaml(text) if yaml else json.loads(text)
        except (ValueError, RecursionError):
            return Outcome(returned=lines)
        for parser in self.parsers:
            facts = (
                parser.document(value, self.source, lines[0][1]) if parser.document else None
            )
            if facts is not None:
                within = texts(value, lines)
                return Outcome(parser.tool, tuple(facts), len(lines), texts=within)
        carried = [(one, lines[0][1]) for one in unfolded(value)]
        if not carried:
            return Outcome(returned=lines)
        return Outcome(carried=carried, lines=len(lines))


def _refuse_odd(events: Iterable[Any]) -> None:
    """Raise ValueError for aliases and for nesting that no object of Kubernetes has."""
    depth = 0
    for event in events:
        kind = type(event).__name__
        depth += kind.endswith(("MappingStartEvent", "SequenceStartEvent"))
        depth -= kind.endswith(("MappingEndEvent", "SequenceEndEvent"))
        if kind == "AliasEvent" or depth > _YAML_TOO_DEEP:
            message = "aliases, or too deep"
            raise ValueError(message)


def _yaml(text: str) -> object:
    """Return a YAML document as plain data, or raise ValueError.

    Aliases are refused: no tool prints them, and a few lines of them unfold without end.
    """
    import yaml  # noqa: PLC0415 - 20 ms that most texts need not pay

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        if _YAML_ODD.search(text):
            _refuse_odd(yaml.parse(text, Loader=loader))
        value = yaml.load(text, Loader=loader)  # noqa: S506 - a safe loader, in C or Python
        return json.loads(json.dumps(value, default=str))
    except (yaml.YAMLError, TypeError, OverflowError) as error:
        raise ValueError(str(error)) from error
