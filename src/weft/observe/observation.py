"""What was seen, all together: the facts, and how much of each file was understood."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields, replace
from functools import cache, lru_cache
from operator import attrgetter
from typing import TypeVar

from weft.observe.backwards import Order
from weft.observe.complaints import LONGEST, MOST, troubles
from weft.observe.facts.adapters import CableEvent, Gid
from weft.observe.facts.base import Evidence, Fact
from weft.observe.facts.interfaces import Counter, LinkEvent
from weft.observe.facts.reading import Complaint, FileRead, Opening
from weft.observe.parser import Source
from weft.observe.titles import Title

F = TypeVar("F")
MOST_OF_A_KIND = 60_000
_SHOWN_UNREAD = 5
_OPENING_LINES = 150
_LONGEST_HEADING = 100
_CLOCK = re.compile(r"(?<![\d:])[0-2]\d:[0-5]\d:[0-5]\d(?![\d:])")
_LOOP = re.compile(
    r"\b(?:for|while|until)\b.*\bdo\b.*\bsleep\b|\bwatch\b.*\s-n|"
    r"^(?!.*\bfor \w+ in)\s*(?!sudo sleep|sleep)\S.*(?:;|&&)\s*sleep [\d.]+\s*(?:;|&&)"
)
"""Commands that print the same again and again, with a pause between."""
_LONGEST_LOOP = 500
_OPENING_LENGTH = 16_000
_MOST_ASKED = 20_000
"""Lines that nobody read, their numbers apart, of which it is known whether they complain."""
_NO_DIGITS = str.maketrans("", "", "0123456789")
_EACH_COUNTS = (LinkEvent, CableEvent)


@dataclass(frozen=True, slots=True)
class Observation:
    """Facts in the order they were read, and the files they came from."""

    facts: tuple[Fact, ...] = ()
    files: tuple[FileRead, ...] = ()

    def of(self, kind: type[F]) -> list[F]:
        """Return the facts of a kind."""
        return [fact for fact in self.facts if isinstance(fact, kind)]

    @property
    def complaints(self) -> tuple[Complaint, ...]:
        """Return the lines that nobody understood and that tell of trouble."""
        return tuple(one for file in self.files for one in file.complaints)

    @property
    def openings(self) -> tuple[Opening, ...]:
        """Return how each text begins."""
        return tuple(_opening(file) for file in self.files if file.opening)

    @property
    def read_ratio(self) -> float:
        """Return the share of all lines with text that were understood."""
        full = sum(file.lines - file.blank for file in self.files)
        return 1.0 - sum(file.unread for file in self.files) / full if full else 1.0


def _opening(file: FileRead) -> Opening:
    first = Evidence(file.file, 1, file.opening.partition("\n")[0].strip())
    return Opening(file.opening, first, file.read_ratio)


@cache
def _key_of(kind: type) -> Callable[[object], object]:
    """Return what two facts of a kind must share to be the same fact: all but the evidence.

    Of events that come and go each counts, though stamps may not tell one from the next.
    """
    names = [f.name for f in fields(kind) if f.name != "evidence" or kind in _EACH_COUNTS]
    return attrgetter(*names)


def _moved(evidence: Evidence, order: Order) -> Evidence:
    """Return a line of a text that was turned with its number in the file."""
    number = evidence.line
    return replace(evidence, line=order.line(number), turned=order.written(number))


@lru_cache(maxsize=64)
def _is_loop(command: str) -> bool:
    """Return whether a command prints the same again and again."""
    return _LOOP.search(command[:_LONGEST_LOOP]) is not None


@dataclass(slots=True)
class Ledger:
    """The account of one file being read: equal facts are kept once, kinds are bounded."""

    source: Source
    facts: list[Fact] = field(default_factory=list)
    lines: int = 0
    blank: int = 0
    unread: int = 0
    left_out: int = 0
    read_by: dict[str, int] = field(default_factory=dict)
    opening: str = ""
    samples: list[Evidence] = field(default_factory=list)
    complaints: dict[str, Complaint] = field(default_factory=dict)
    _seen: dict[type, set[object]] = field(default_factory=dict)
    _asked: set[str] = field(default_factory=set)
    _headings: dict[str, int] = field(default_factory=dict)
    _titles: dict[str, list[str]] = field(default_factory=dict)
    _turns: dict[tuple[object, ...], int] = field(default_factory=dict)
    _reading: int = 0

    def keep(self, facts: Iterable[Fact]) -> None:
        """Keep the facts that are new."""
        for one in facts:
            fact = self._sampled(one)
            kind = type(fact)
            seen = self._seen.setdefault(kind, set())
            key = _key_of(kind)(fact)
            if key in seen:
                continue
            if len(seen) >= MOST_OF_A_KIND:
                self.left_out += 1
                continue
            seen.add(key)
            self.facts.append(fact)

    def _sampled(self, fact: Fact) -> Fact:
        """Return what may be read several times with the number of its reading."""
        if isinstance(fact, Gid) and self._reading:
            return replace(fact, sample=self._reading)
        if not isinstance(fact, Counter) or fact.sample is not None:
            return fact
        if self.source.sample is not None:
            return replace(fact, sample=self.source.sample, sampled_s=self.source.sampled_s)
        reading = self._reading or self._turn(fact)
        return replace(fact, sample=reading) if reading else fact

    def _turn(self, counter: Counter) -> int:
        """Return how often a loop with pauses has printed a counter before."""
        if not _is_loop(self.source.command):
            return 0
        key = (self.source.command, counter.host, counter.where, counter.port, counter.name)
        turn = self._turns.get(key, -1) + 1
        if key in self._turns or len(self._turns) < _MOST_ASKED:
            self._turns[key] = turn
        return turn

    def headed(self, text: str) -> None:
        """Number the readings of what follows a heading that stood before, at another time."""
        short = len(text) <= _LONGEST_HEADING and len(self._headings) < _MOST_ASKED
        clock = _CLOCK.search(text) if short else None
        if clock:
            heading = text.replace(clock[0], "")
            self._reading = self._headings.setdefault(heading, -1) + 1
            self._headings[heading] = self._reading

    def titled(self, title: Title) -> None:
        """Number the readings of a host whose title says when each was taken."""
        times = self._titles.setdefault(title.host, [])
        if title.when and title.when not in times:
            times.append(title.when)
        self._reading = times.index(title.when) if title.when else 0

    def begin(self, block: str) -> None:
        """Note how the text begins, from the first of its blocks."""
        if not self.lines and not self.opening:
            lines = block.split("\n", _OPENING_LINES)[:_OPENING_LINES]
            self.opening = "\n".join(line[:LONGEST] for line in lines)[:_OPENING_LENGTH]

    def pass_over(self, text: str, number: int) -> None:
        """Note a line that nobody understood."""
        self.unread += 1
        self.headed(text)
        if len(self.samples) < _SHOWN_UNREAD:
            self.samples.append(self.source.evidence(text, number))
        kinds = self._troubles(text) if len(self.complaints) < MOST else ()
        if kinds:
            evidence = self.source.evidence(text, number)
            words = evidence.text.translate(_NO_DIGITS)
            self.complaints.setdefault(words, Complaint(kinds, evidence))

    def _troubles(self, text: str) -> tuple[str, ...]:
        """Return the kinds of trouble of a line that is unlike those before but for numbers."""
        alike = text[:LONGEST].translate(_NO_DIGITS)
        if alike in self._asked:
            return ()
        if len(self._asked) < _MOST_ASKED:
            self._asked.add(alike)
        return troubles(text)

    def put_back(self, order: Order) -> None:
        """Bring what was read in another order into that of time, at its lines in the file."""
        if not order:
            return
        self.facts = [
            replace(one, evidence=_moved(one.evidence, order))  # type: ignore[type-var]
            for one in self.facts
        ]
        self.facts.sort(key=lambda one: one.evidence.place)
        self.samples = [_moved(one, order) for one in self.samples]
        self.complaints = {
            words: replace(one, evidence=_moved(one.evidence, order))
            for words, one in self.complaints.items()
        }

    def closed(self) -> FileRead:
        """Return how much of the file was understood."""
        return FileRead(
            file=self.source.file,
            lines=self.lines,
            blank=self.blank,
            unread=self.unread,
            tools=tuple(sorted(self.read_by.items(), key=lambda item: -item[1])),
            first_unread=tuple(self.samples),
            complaints=tuple(self.complaints.values()),
            opening=self.opening,
            left_out=self.left_out,
        )
