"""Reads a text: each line is offered to the parsers until one understands it.

The parser that understood the last line is asked first, then those whose marks stand
somewhere in the same block of text. So a plain log costs one question a line, and outputs
of several tools may follow one another, or be mixed, in one file.
A line nobody understands may carry a label (of a rank, a host, a pod, a time) before the
tool's own text: then it is offered again without, to a session of that label's own, so that
the mixed outputs of many hosts are told apart.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache, partial

from weft import plugins
from weft.observe import parsers
from weft.observe.backwards import Order, in_time
from weft.observe.documents import DocumentCollector, Outcome
from weft.observe.envelopes import PART, is_escaped, unescaped, unwrapped
from weft.observe.facts.base import Fact
from weft.observe.facts.reading import FileRead
from weft.observe.labels import is_numbered, labels
from weft.observe.observation import Ledger
from weft.observe.parser import LONGEST_LINE, Parser, Reader, Source
from weft.observe.pickled import MOST_BYTES, NotPlain, is_pickle, plain
from weft.observe.quotation import quotations
from weft.observe.text import (
    BLOCK_BYTES,
    BLOCKS_IN_VAIN,
    Bytes,
    Joined,
    blocks,
    looks_binary,
)
from weft.observe.titles import Title, titles
from weft.observe.wrapping import unbroken

_COMMANDS = "shell"
_QUOTED = "quotations"
"""What counts lines that only quote messages, in place of a parser."""
_TITLES = "titles"
"""What counts lines that say whose the output below is."""
_MOST_LABELS = 4096
_MOST_WITHIN = 4
"""So many documents whose texts are read may lie within one another."""
_HEAD_BYTES = 4096
_KEPT_RATIO = 0.8
"""Of the facts of a text as it is that it still states with its lines joined."""
_NO_DIGITS = str.maketrans("", "", "0123456789")
_INDENTED = re.compile(r"^[ \t]+\S", re.MULTILINE)
_FENCE = re.compile(r"\s*(?:```[\w-]*|~~~[\w-]*|[-=_*#─.]{3,}|>+)\s*$")


@cache
def all_parsers() -> tuple[tuple[str, Parser], ...]:
    """Return the parsers by name, the first to be asked first."""
    loaded = [(name, plugins.load(parsers, name, Parser)) for name in plugins.names(parsers)]
    return tuple(sorted(loaded, key=lambda item: (item[1].rank, item[0])))


@cache
def _at_rest() -> tuple[tuple[str, Callable[[str], bool]], ...]:
    """Return what knows the lines of a tool that tell of nothing, by the tool's parser."""
    return tuple((name, one.rest) for name, one in all_parsers() if one.rest is not None)


@dataclass(slots=True)
class _Session:
    """The readers of one stream of lines, each made when it is first needed."""

    source: Source
    readers: dict[str, Reader] = field(default_factory=dict)
    active: str = ""
    ask: Callable[[str, int], Sequence[Fact] | None] | None = None
    longest: int = 0
    lines_read: int = 0

    def reader(self, name: str, parser: Parser) -> Reader:
        """Return the reader of a parser."""
        if name not in self.readers:
            assert parser.reader is not None
            self.readers[name] = parser.reader(self.source)
        return self.readers[name]


def _undated(label: str) -> str:
    """Return a label without its digits, which differ from line to line."""
    return label.translate(_NO_DIGITS)


class Reading:
    """One text being read; ``ledger`` is the account of it."""

    def __init__(self, source: Source) -> None:
        """Begin with nothing read."""
        self.ledger = Ledger(source)
        self._main = _Session(source)
        source.leave = partial(self._leave, self._main)
        self._labelled: dict[str, _Session] = {}
        self._block = ""
        self._last = ("", 0)
        self._candidates: list[tuple[str, Parser]] | None = None
        self._numbered: bool | None = None
        self._flat: bool | None = None
        self._depth = 0
        self._documents = DocumentCollector(source, [p for _, p in all_parsers()])

    def block(self, text: str) -> None:
        """Read a block of whole lines."""
        self._block, self._candidates, self._numbered = text, None, None
        self._flat = None
        ledger, session = self.ledger, self._main
        ledger.begin(text)
        number = ledger.lines
        carries = PART in text or "\\" in text or "{" in text
        quoted = quotations(text)
        named = {} if number else titles(text)
        begin = number + 1
        for line in text.split("\n"):
            number += 1
            if not line or line.isspace():
                ledger.blank += 1
                continue
            if quoted and number - begin in quoted and not self._documents.open:
                self._count(_QUOTED, 1)
                continue
            if number - begin in named and not self._documents.open:
                self._name(named[number - begin])
                continue
            if carries and self._carried(line, number):
                continue
            if self._documents.open and self._documents.stops_before(line):
                self._conclude(self._documents.close())
            if session.ask is not None and not self._documents.open:
                facts = session.ask(line[: session.longest], number)
                if facts is not None:
                    session.lines_read += 1
                    self._last = (line, number)
                    if facts:
                        ledger.keep(facts)
                    continue
            self._line(line, number)
        ledger.lines = number

    def _name(self, title: Title) -> None:
        """Take what follows as the output of whom a title names, or as a later one."""
        self._main.source.arrive(title.host)
        self.ledger.titled(title)
        self._count(_TITLES, 1)

    def end(self) -> None:
        """Take what the readers have kept to the end."""
        self._conclude(self._documents.close())
        for session in (self._main, *self._labelled.values()):
            self._settle(session)
            for reader in session.readers.values():
                self.ledger.keep(reader.end())

    def _leave(self, session: _Session) -> None:
        """State what was gathered of a host before the output of the next begins."""
        for name, reader in session.readers.items():
            if name != _COMMANDS:
                self.ledger.keep(reader.end())

    def _carried(self, line: str, number: int) -> bool:
        """Read the lines that one line carries, or the document that it is."""
        if self._documents.open:
            return False
        if PART in line or (is_escaped(line) and not line.startswith(("{", "["))):
            self._read_all([(one, number) for one in unescaped(line).split(PART)])
            return True
        if line.startswith(('{"', "[{")) and line.rstrip().endswith(("}", "]")):
            self._documents.begins(line)
            self._collect(line, number)
            return True
        return False

    def _read_all(self, lines: Sequence[tuple[str, int]], spanned: int = 1) -> None:
        """Read lines that something else carried, which spanned so many lines itself."""
        full = [(line, number) for line, number in lines if line and not line.isspace()]
        block, self._block = self._block, "\n".join(line for line, _ in full)
        self._candidates = self._numbered = None
        unread = self.ledger.unread
        for line, number in full:
            if self._documents.open or not self._asked(self._main, line, number):
                self._line(line, number)
        self._conclude(self._documents.close())  # what was carried goes on in nothing else
        nothing = self.ledger.unread - unread >= len(full)
        self.ledger.unread = unread + (spanned if nothing and full else 0)
        self._block, self._candidates, self._numbered = block, None, None

    def _line(self, line: str, number: int) -> None:
        if self._documents.open:
            self._collect(line, number)
        elif self._offer(self._main, line, number):
            self._last = (line, number)
        else:
            self._beyond(line, number)

    def _beyond(self, line: str, number: int) -> None:
        """Try a line that nobody read as the start of a document, then without its label."""
        if self._documents.begins(line):
            self._collect(line, number)
        elif not self._without_label(line, number) and not self._indented(line, number):
            if _FENCE.match(line):
                self.ledger.blank += 1
            elif not self._says_nothing(line):
                self.ledger.pass_over(line, number)

    def _says_nothing(self, line: str) -> bool:
        """Count a line that nobody reads for the tool whose idle talk it is."""
        for name, known in _at_rest():
            if known(line[:LONGEST_LINE]):
                self._count(name, 1)
                return True
        return False

    def _collect(self, line: str, number: int) -> None:
        outcome = self._documents.add(line, number)
        if outcome is not None:
            self._conclude(outcome)

    def _conclude(self, outcome: Outcome) -> None:
        """Keep what a document that ended states, or read its lines one by one."""
        if outcome.tool:
            self._count(outcome.tool, outcome.lines)
            self.ledger.keep(outcome.facts)
        self._replay(outcome.returned)
        if self._depth < _MOST_WITHIN:
            self._depth += 1
            for text in outcome.texts:
                self._read_all(text, 0)
            self._depth -= 1
        if outcome.carried:
            self._read_all(outcome.carried, outcome.lines)

    def _replay(self, lines: Sequence[tuple[str, int]]) -> None:
        """Read lines that looked like a document and were none."""
        if not lines:
            return
        block, self._block = self._block, "\n".join(line for line, _ in lines)
        self._candidates = None  # the lines may have begun many blocks ago
        for line, number in lines:
            if not self._asked(self._main, line, number) and not self._offer(
                self._main, line, number
            ):
                self.ledger.pass_over(line, number)
        self._block, self._candidates = block, None

    def _without_label(self, line: str, number: int) -> bool:
        """Read a line without what stands before it: labels, stamps, numbers of lines."""
        for one in labels(line, numbered=self._numbers_here()):
            if not one.text or one.text.isspace():
                self.ledger.blank += 1
                self.ledger.headed(line)
                return True
            if one.text.startswith('{"') and PART not in one.text:
                said = unwrapped(one.text)
                if said != one.text:
                    self._read_all([(part, number) for part in said.split(PART)])
                    return True
            if self._continues(line, one.text, number):
                return True
            session = self._session(one.key, one.host)
            if self._asked(session, one.text, number) or self._offer(session, one.text, number):
                return True
        return False

    def _indented(self, line: str, number: int) -> bool:
        """Read on in a text that lost all its indents, as pages and chats take them."""
        if self._flat is None:
            self._flat = _INDENTED.search(self._block) is None
        return self._flat and self._asked(self._main, f"    {line}", number)

    def _numbers_here(self) -> bool:
        """Return whether the lines of the block are numbered."""
        if self._numbered is None:
            self._numbered = is_numbered(self._block)
        return self._numbered

    def _session(self, key: str, host: str) -> _Session:
        """Return the session of a label: stamps alone are nobody's."""
        session = self._labelled.get(key) if key else self._main
        if session is None:
            session = _Session(Source(self.ledger.source.file, host or self.ledger.source.host))
            session.source.leave = partial(self._leave, session)
            if len(self._labelled) < _MOST_LABELS:
                self._labelled[key] = session
        return session

    def _continues(self, line: str, text: str, number: int) -> bool:
        """Read on in what the line before began, which carries the same label."""
        before, at = self._last
        label = len(line) - len(text)
        if number - at > 1 or _undated(before[:label]) != _undated(line[:label]):
            return False
        read = self._asked(self._main, text, number)
        self._last = (line, number) if read else self._last
        return read

    def _asked(self, session: _Session, line: str, number: int) -> bool:
        """Ask the reader that read last."""
        facts = None
        if session.ask is not None:
            facts = session.ask(line[: session.longest], number)
        if facts is None:
            return False
        session.lines_read += 1
        self.ledger.keep(facts)
        return True

    def _offer(self, session: _Session, line: str, number: int) -> bool:
        """Ask every reader that may know the line but the one asked already."""
        for name, parser in self._candidates_here():
            if name == session.active:
                continue
            reader = session.reader(name, parser)
            facts = reader.take(line[: parser.longest], number)
            if facts is not None:
                self._settle(session)
                session.active, session.ask, session.lines_read = name, reader.take, 1
                session.longest = parser.longest
                self.ledger.keep(facts)
                return True
        return False

    def _settle(self, session: _Session) -> None:
        """Count the lines that the reader of a session read in a row."""
        if session.lines_read:
            self._count(session.active, session.lines_read)
            session.lines_read = 0

    def _count(self, name: str, lines: int) -> None:
        self.ledger.read_by[name] = self.ledger.read_by.get(name, 0) + lines

    def _candidates_here(self) -> list[tuple[str, Parser]]:
        if self._candidates is None:
            self._candidates = [
                (name, parser)
                for name, parser in all_parsers()
                if parser.reader
                and (
                    name in self._main.readers
                    or any(mark in self._block for mark in parser.marks)
                )
            ]
        return self._candidates


def read_stream(stream: Bytes, source: Source) -> tuple[list[Fact], FileRead]:
    """Read a stream of bytes to its end."""
    head = stream.read(_HEAD_BYTES)
    if is_pickle(head):
        return _read_pickle(Joined(head, stream), source)
    if looks_binary(head):
        nothing = FileRead(file=source.file, lines=0, blank=0, unread=0, skipped="binary")
        return [], nothing
    reading = Reading(source)
    in_vain = 0
    order = Order()
    for stretch in in_time(blocks(Joined(head, stream))):
        block, ledger = stretch.text, reading.ledger
        ledger.begin(stretch.as_it_stands)
        order.add(stretch, ledger.lines)
        best = _best(block, source) if in_vain < BLOCKS_IN_VAIN else block
        in_vain = in_vain + 1 if best is block else 0
        reading.block(best)
    reading.end()
    reading.ledger.put_back(order)
    return reading.ledger.facts, reading.ledger.closed()


def _best(block: str, source: Source) -> str:
    """Return a block as it is or with its lines joined, whichever more of can be read.

    A block of which nothing can be read alone may go on in what stands before it.
    """
    best, seen = block, None
    for joined in map(unwrapped, unbroken(block)):
        seen = seen or _tried(block, source)
        tried = _tried(joined, source)
        if tried.better_than(seen) and (best is block or tried.unread < seen.unread):
            best, seen = joined, tried
    return best


@dataclass(frozen=True, slots=True)
class _Tried:
    """What reading a block gave: lines nobody read, facts, and how much these say."""

    unread: int
    facts: int
    said: int

    def better_than(self, other: "_Tried") -> bool:
        """Return whether more was understood, and nothing much lost."""
        if self.unread < other.unread:
            return self.facts > 0 and self.facts >= _KEPT_RATIO * other.facts
        return self.unread == other.unread and self.said > other.said


def _tried(block: str, source: Source) -> _Tried:
    """Read a block for trial."""
    trial = Reading(replace(source))
    trial.block(block)
    trial.end()
    facts = trial.ledger.facts
    said = sum(
        getattr(fact, one.name) != one.default
        for fact in facts
        for one in fields(type(fact))  # type: ignore[arg-type]  # every fact is a dataclass
    )
    return _Tried(trial.ledger.unread, len(facts), said)


def _read_pickle(stream: Bytes, source: Source) -> tuple[list[Fact], FileRead]:
    """Read the plain values of a pickle as a document; nothing in it is ever called."""
    whole = b"".join(iter(lambda: stream.read(BLOCK_BYTES), b""))
    ledger = Ledger(source)
    try:
        value = plain(whole) if len(whole) <= MOST_BYTES else None
        why = (
            "a pickle that is too large"
            if value is None
            else "a pickle that no tool is known by"
        )
    except NotPlain as refused:
        value, why = None, f"a pickle: {refused}"
    for name, parser in all_parsers():
        facts = parser.document(value, source, 1) if parser.document else None
        if facts is not None:
            ledger.keep(facts)
            ledger.lines, ledger.read_by[name] = 1, 1
            return ledger.facts, ledger.closed()
    return [], FileRead(file=source.file, lines=0, blank=0, unread=0, skipped=why)


def read_text(text: str, file: str, host: str = "") -> tuple[list[Fact], FileRead]:
    """Read a text that is at hand.

    >>> facts, file = read_text("nothing a tool prints", "note.txt")
    >>> len(facts), file.unread
    (0, 1)
    """
    from io import BytesIO  # noqa: PLC0415 - only here

    return read_stream(BytesIO(text.encode()), Source(file, host))
