"""All message tables and the openings of all formats, matched together in one pass.

RE2 decides for every row at once, in time linear in the length of the line; only rows that
match are looked at further.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from weft import plugins
from weft.inventory.table import tables
from weft.readers import parsers
from weft.readers.column import ColumnBlock, Columns, columns
from weft.readers.line import Line
from weft.readers.matcher import Matcher
from weft.readers.parser import Parser
from weft.readers.remembered import remembered
from weft.readers.rows import Row, row
from weft.readers.scribe import Scribe

MOST_LINES_OF_BLOCK: Final = 200_000
"""Lines of one output that a parser is given."""

OTHERWISE: Final = "otherwise"
"""The table of lines that count only where no other row knows them."""


@dataclass(slots=True, eq=False)
class Format:
    """The output of one command as a table: lines that open it, and rows within it."""

    name: str
    opens: tuple[str, ...]
    rows: tuple[Row, ...]
    job: str = ""
    """``file``: every file of this format is a job of its own."""
    _matcher: Matcher | None = None

    def block(self, scribe: Scribe) -> "TableBlock":
        """Begin to read one output."""
        if self.job == "file":
            scribe.context["job"] = scribe.file
        return TableBlock(self, scribe)

    @property
    def matcher(self) -> Matcher:
        """Return the rows as a set, compiled when an output of this format is met."""
        if self._matcher is None:
            self._matcher = Matcher([item.match for item in self.rows])
        return self._matcher

    @remembered
    def hit(self, raw: bytes) -> Sequence[Row]:
        """Return the rows that a line may match."""
        return [self.rows[number] for number in sorted(self.matcher.match(raw))]


@dataclass(slots=True)
class TableBlock:
    """One output of a format, read line by line."""

    format: Format
    scribe: Scribe

    def read(self, raw: bytes, line: Line) -> bool:
        """Record what a line within the block states; return whether it states anything."""
        hits = [row.read(line, self.scribe) for row in self.format.hit(raw)]
        return any(hits)

    def end(self) -> None:
        """Forget what the lines were about."""
        for item in self.format.rows:
            for field in item.enters:
                self.scribe.context.pop(field, None)
        if self.format.job:
            self.scribe.context.pop("job", None)


@dataclass(slots=True)
class ParserBlock:
    """One output that a parser reads as a whole: its lines, until it ends."""

    parser: Parser
    scribe: Scribe
    lines: list[Line]

    def read(self, raw: bytes, line: Line) -> bool:
        """Keep a line of the output."""
        keeps = self.parser.keeps
        if len(self.lines) < MOST_LINES_OF_BLOCK and (not keeps or self.parser.kept(raw)):
            self.lines.append(line)
            return True
        return False

    def end(self) -> None:
        """Read the output."""
        self.parser.read(self.lines, self.scribe)


Form = Format | Columns | Parser
"""What reads the output of one command."""
Block = TableBlock | ColumnBlock | ParserBlock
"""One such output being read."""


@dataclass(frozen=True, slots=True, eq=False)
class Engine:
    """Every table, ready to match."""

    messages: tuple[Row, ...]
    formats: "tuple[Form, ...]"
    openings: tuple[int, ...]
    """Which format each pattern after those of the messages opens."""
    matcher: Matcher

    @remembered
    def matches(self, line: bytes) -> tuple[Sequence[Row], "Form | None"]:
        """Return the message rows that a line may match, and the format that it opens."""
        found = self.matcher.match(line)
        if not found:
            return (), None
        count = len(self.messages)
        opened = next(
            (self.openings[number - count] for number in found if number >= count), None
        )
        rows = [self.messages[number] for number in sorted(found) if number < count]
        if len(rows) > 1:
            rows = [row for row in rows if row.tool != OTHERWISE] or rows[-1:]
        return rows, None if opened is None else self.formats[opened]


@cache
def engine() -> Engine:
    """Return the engine with every table of the package."""
    messages = tuple(_rows(tables("weft.readers", "messages")))
    known = _formats(tables("weft.readers", "formats"))
    formats: tuple[Form, ...] = (*known, *_columns(), *_parsers())
    openings = [(place, text) for place, of in enumerate(formats) for text in of.opens]
    patterns = [*(message.match for message in messages), *(opening for _, opening in openings)]
    return Engine(
        messages=messages,
        formats=formats,
        openings=tuple(place for place, _ in openings),
        matcher=Matcher(patterns),
    )


def _rows(found: Mapping[str, Any]) -> Iterator[Row]:
    for tool, table in found.items():
        for told in table:
            yield row(told, tool)


def _formats(found: Mapping[str, Any]) -> Iterator[Format]:
    for name, table in found.items():
        listed = tuple(row(told, name) for told in table["rows"])
        yield Format(name, tuple(table["opens"]), listed, str(table.get("job", "")))


def _columns() -> Iterator[Columns]:
    for table in tables("weft.readers", "columns").values():
        yield from (columns(told) for told in table)


def _parsers() -> Iterator[Parser]:
    for name in plugins.names(parsers):
        yield plugins.load(parsers, name, Parser)
