"""What a parser is.

A parser is asked line by line, so that logs of any length are read in little memory and
the output of several tools may be mixed in one file, line by line if it must be.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from weft.observe.facts.base import Evidence, Fact

LONGEST_EVIDENCE = 400
LONGEST_LINE = 2048
READ: tuple[Fact, ...] = ()
"""The answer for a line that was understood and states nothing worth keeping."""


@dataclass(slots=True)
class Source:
    """The text being read: its name, its host, and the last command typed in it (hints).

    ``folder`` is where the session went (``cd``), if it did.
    ``sample`` and ``sampled_s`` where the text is one of several readings of counters.
    """

    file: str
    host: str = ""
    command: str = ""
    folder: str = ""
    sample: int | None = None
    sampled_s: float | None = None
    leave: Callable[[], None] | None = None
    """Called before another host's output begins: what was gathered is of the host before."""

    def arrive(self, host: str) -> None:
        """Take what follows as another host's output, where a host is named."""
        if host and host != self.host:
            if self.leave is not None:
                self.leave()
            self.host, self.folder = host, ""

    def evidence(self, text: str, number: int) -> Evidence:
        """Return a line as evidence, cut when it is long."""
        line = text.strip()
        if len(line) > LONGEST_EVIDENCE:
            line = f"{line[: LONGEST_EVIDENCE - 1]}…"
        return Evidence(self.file, number, line)


class Reader(Protocol):
    """A parser at work on one source; it may keep a state of bounded size."""

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return the facts of a line (often none), or None when the line is another tool's."""

    def end(self) -> Iterable[Fact]:
        """Return the facts that are complete only now; the reader then starts afresh."""


class Document(Protocol):
    """How whole JSON or YAML documents are read."""

    def __call__(self, value: object, source: Source, number: int) -> Iterable[Fact] | None:
        """Return the facts of a document beginning at a line, or None if another tool's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parser:
    """Reads the output of one tool: its lines, its documents, or both.

    ``marks`` are texts of which any stretch of this tool's output holds at least one: a block
    of lines without them is never shown to its reader, unless it is the one that read last.
    ``rank`` orders the parsers where two could claim a line: the lower is asked first.
    ``rest`` knows lines of this tool that nobody reads and that tell of nothing.
    A line is cut at ``longest`` before the reader sees it, so that no expression can take long.
    """

    tool: str
    marks: tuple[str, ...] = ()
    reader: Callable[[Source], Reader] | None = None
    document: Document | None = None
    rank: int = 50
    longest: int = LONGEST_LINE
    rest: Callable[[str], bool] | None = None
