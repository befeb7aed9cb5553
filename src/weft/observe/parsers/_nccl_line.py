"""One line of the communication library's log: who wrote it, and the words after."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from weft.observe.facts.base import NOBODY, Evidence, Fact, Moment, Process
from weft.observe.moments import moment
from weft.observe.parser import Source

_WHO = re.compile(
    r"(?:.*[\s\]>):|+])?(?P<host>[\w.<>-]{1,120}):(?P<pid>\d{1,8}):\d{1,8} ?(?:\[(?P<gpu>"
    r"\d{1,3})\])?"
)
_GLUED = re.compile(
    r".*?(?P<host>[A-Za-z<][\w.<>-]{0,100}?)(?P<pid>\d{3,8}):\d{1,8} ?\[(?P<gpu>\d{1,3})\]"
)
_HOST_ALONE = re.compile(r"\s*(?!rank\d)(?P<host>[A-Za-z][\w.-]{1,80}):\s*$")
_GPU = re.compile(r"[^\[]{0,60}\[(?P<gpu>\d{1,3})\]\s*$")
_LONGEST_HEAD = 300


@dataclass(frozen=True, slots=True)
class Words:
    """A message with its writer; ``text`` is the message, ``line`` the whole line."""

    text: str
    line: str
    number: int
    level: str
    place: str
    process: Process
    source: Source

    @property
    def evidence(self) -> Evidence:
        """Return the line as evidence."""
        return self.source.evidence(self.line, self.number)

    @property
    def moment(self) -> Moment | None:
        """Return when the line was written."""
        return moment(self.line)


Build = Callable[["re.Match[str]", Words], Sequence[Fact]]


@dataclass(frozen=True, slots=True)
class Rule:
    """One sort of message: the expression it matches and what it states."""

    expression: re.Pattern[str]
    build: Build


def rule(expression: str, build: Build) -> Rule:
    """Return a rule for messages that match from their beginning."""
    return Rule(re.compile(expression), build)


def process_of(head: str) -> Process:
    """Return who wrote a line from what stands before the library's name.

    >>> process_of("[1,0]<stdout>:node-1:42:43 [7]")
    Process(host='node-1', pid=42, gpu=7, rank=None)
    """
    head = head[-_LONGEST_HEAD:]
    found = _WHO.match(head) or _GLUED.match(head)
    if found:
        gpu = found["gpu"]
        return Process(host=found["host"], pid=int(found["pid"]), gpu=int(gpu) if gpu else None)
    alone = _GPU.match(head)
    if alone:
        return Process(gpu=int(alone["gpu"]))
    label = _HOST_ALONE.match(head)
    return Process(host=label["host"]) if label else NOBODY


def number(text: str | None, base: int = 10) -> int | None:
    """Return a number that may not be there."""
    try:
        return int(text, base) if text else None
    except ValueError:
        return None
