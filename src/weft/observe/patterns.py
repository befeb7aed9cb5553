"""Readers that are a table: a mark, the expression that begins with it, and what it states.

The mark is found first, which is fast, and the expression is matched there and nowhere else,
so a line costs one pass whatever it holds.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from weft.observe.facts.base import Evidence, Fact, Moment
from weft.observe.moments import moment
from weft.observe.parser import READ, Reader, Source


@dataclass(frozen=True, slots=True)
class Line:
    """A line in which a pattern was found; ``start`` is where the mark begins."""

    text: str
    number: int
    source: Source
    start: int = 0

    @property
    def evidence(self) -> Evidence:
        """Return the line as evidence."""
        return self.source.evidence(self.text, self.number)

    @property
    def before(self) -> str:
        """Return what stands before the mark: stamps and names of processes."""
        return self.text[: self.start]

    @property
    def host(self) -> str:
        """Return the host the line came from, when known."""
        return self.source.host

    @property
    def moment(self) -> Moment | None:
        """Return when the line was written."""
        return moment(self.text)


Build = Callable[["re.Match[str]", Line], Sequence[Fact]]


@dataclass(frozen=True, slots=True)
class Pattern:
    """One sort of line: ``expression`` is matched where ``mark`` begins."""

    mark: str
    expression: re.Pattern[str]
    build: Build


def pattern(mark: str, expression: str, build: Build, flags: int = 0) -> Pattern:
    """Return a pattern; the expression must match from the beginning of the mark."""
    return Pattern(mark, re.compile(expression, flags), build)


def nothing(found: re.Match[str], line: Line) -> Sequence[Fact]:
    """State nothing: the line is understood and says nothing worth keeping."""
    del found, line
    return READ


def match(patterns: Iterable[Pattern], line: Line) -> Sequence[Fact] | None:
    """Return what the first pattern that fits a line states, or None when none fits."""
    text = line.text
    for one in patterns:
        start = text.find(one.mark)
        if start < 0:
            continue
        found = one.expression.match(text, start)
        if found:
            return one.build(found, Line(text, line.number, line.source, start))
    return None


@dataclass(slots=True)
class TableReader:
    """Reads lines that each stand alone."""

    patterns: tuple[Pattern, ...]
    source: Source

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return the facts of a line that fits a pattern."""
        return match(self.patterns, Line(text, number, self.source))

    def end(self) -> Iterable[Fact]:
        """Keep nothing to the end."""
        return READ


def table(*patterns: Pattern) -> Callable[[Source], Reader]:
    """Return what makes readers of these patterns, the first that fits first."""

    def reader(source: Source) -> Reader:
        return TableReader(patterns, source)

    return reader


@dataclass(slots=True)
class WordsReader:
    """Reads sentences of programs, in which words are sought at any place."""

    sorts: tuple[tuple[re.Pattern[str], Build], ...]
    source: Source

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return the facts of the first sort of sentence that a line holds."""
        for expression, build in self.sorts:
            found = expression.search(text)
            if found:
                return build(found, Line(text, number, self.source, found.start()))
        return None

    def end(self) -> Iterable[Fact]:
        """Keep nothing to the end."""
        return READ


def words(*sorts: tuple[re.Pattern[str], Build]) -> Callable[[Source], Reader]:
    """Return what makes readers of these sorts of sentences, the first that fits first."""

    def reader(source: Source) -> Reader:
        return WordsReader(sorts, source)

    return reader
