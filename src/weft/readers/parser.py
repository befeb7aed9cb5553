"""What a parser of our own is: for a format that neither a table nor a library reads."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from weft.readers.line import Line
from weft.readers.matcher import Matcher
from weft.readers.scribe import Scribe

Lines = Sequence[Line]
"""Lines of one output."""


@dataclass(slots=True)
class Parser:
    """The output of one command, given as a whole."""

    name: str
    opens: tuple[str, ...]
    """Patterns (RE2) of a line that begins such an output."""
    reads: Callable[[Lines, Scribe], None]
    keeps: tuple[str, ...] = ()
    """Patterns of lines that are part of it; none: every line until the next output."""
    _matcher: Matcher | None = None

    def read(self, lines: Lines, scribe: Scribe) -> None:
        """Read one output."""
        self.reads(lines, scribe)

    def kept(self, line: bytes) -> bool:
        """Return whether a line is part of such an output."""
        if self._matcher is None:
            self._matcher = Matcher(self.keeps)
        return bool(self._matcher.match(line))
