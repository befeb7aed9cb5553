"""What JAX, XLA and TensorFlow print when tasks of a job die, or cannot meet."""

import errno
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from weft.observe.facts.base import Fact, Process
from weft.observe.facts.collectives import CollectiveTimeout
from weft.observe.facts.programs import ProcessEnded
from weft.observe.facts.verbs import CallFailed
from weft.observe.parser import READ, Parser, Reader, Source
from weft.observe.parsers._values import errno_within, integer
from weft.observe.patterns import Line, words

_LIBRARY = "XLA"
_KILLED = 9
_TASK = re.compile(r"/task:(\d{1,6})")
_DEAD = re.compile(
    r"tasks? (?:are|is) unhealthy|stopped sending heartbeats|[Hh]eartbeat timeout|"
    r"indicates that another task died|detected missing heartbeats|"
    r"/job:\S{1,80}/task:\d+ (?:is down|unexpectedly disconnected)|"
    r"task has failed, got preempted"
)
_NOT_ALL = re.compile(
    r"Barrier timed out\b.{0,200}|DEADLINE_EXCEEDED: (?:Getting|GetKeyValue|Connection|"
    r"Register\w*|Connect)\b.{0,120}|DEADLINE_EXCEEDED: .{0,60}PjRT_Client_Connect.{0,80}"
)
_GRPC = re.compile(
    r"(?:failed to connect to all addresses|Failed to connect to (?:remote host|coordination "
    r"service))(?P<rest>.{0,300})",
    re.IGNORECASE,
)
_PEER = re.compile(r"(?:ipv4|ipv6|dns):/{0,3}(?P<peer>[^\s:;,]{1,80}(?::\d{1,5})?)")
_STUCK = re.compile(r"Termination timeout for `.{1,300}` of \d+ seconds exceeded")
_WAITS = re.compile(r"This thread has been waiting for `(?P<what>[^`;]{1,120})")
_GOES_ON = "Thread is unstuck!"


def _dead(found: re.Match[str], line: Line) -> Sequence[Fact]:
    del found
    task = _TASK.search(line.text)
    return (
        ProcessEnded(
            how="signal",
            signal=_KILLED,
            rank=int(task[1]) if task else None,
            host=line.host,
            moment=line.moment,
            evidence=line.evidence,
        ),
    )


def _failed(call: str, peer: str, code: int | None, error: str, line: Line) -> Sequence[Fact]:
    return (
        CallFailed(
            call=call, errno=code, error=error[:200], peer=peer, library=_LIBRARY,
            moment=line.moment, process=Process(host=line.host), evidence=line.evidence,
        ),
    )  # fmt: skip


def _not_all(found: re.Match[str], line: Line) -> Sequence[Fact]:
    return _failed("connect to coordinator", "", errno.ETIMEDOUT, found[0], line)


def _unreached(found: re.Match[str], line: Line) -> Sequence[Fact]:
    code, error = errno_within(found["rest"])
    peer = _PEER.search(found["rest"])
    if code is None and not peer:
        return READ
    return _failed("connect", peer["peer"] if peer else "", code, error, line)


def _given_up(found: re.Match[str], line: Line) -> Sequence[Fact]:
    del found
    joined = re.search(r"joined_threads=(\d+)", line.text)
    return (
        CollectiveTimeout(
            operation="", elements_in=integer(joined[1]) if joined else None,
            moment=line.moment, process=Process(host=line.host), evidence=line.evidence,
        ),
    )  # fmt: skip


_WORDS = words((_STUCK, _given_up), (_DEAD, _dead), (_NOT_ALL, _not_all), (_GRPC, _unreached))
_MOST_WAITING = 1024


@dataclass(slots=True)
class _Reader:
    """Reads sentences, and keeps who waits until it is told that the wait is over."""

    source: Source
    others: Reader
    waiting: dict[str, Line] = field(default_factory=dict)

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return the facts of a line; a wait is stated at the end."""
        waits = _WAITS.search(text)
        if waits:
            if len(self.waiting) < _MOST_WAITING:
                line = Line(text, number, self.source, waits.start())
                self.waiting.setdefault(waits["what"], line)
            return READ
        if _GOES_ON in text:
            self.waiting.clear()
            return READ
        facts = self.others.take(text, number)
        if facts and any(isinstance(one, CollectiveTimeout) for one in facts):
            self.waiting.clear()
        return facts

    def end(self) -> Iterable[Fact]:
        """State what was still waited for when the text ended."""
        waiting, self.waiting = self.waiting, {}
        return [
            CollectiveTimeout(
                operation="", moment=line.moment, process=Process(host=line.host),
                evidence=line.evidence,
            )
            for line in waiting.values()
        ]  # fmt: skip


def _reader(source: Source) -> Reader:
    return _Reader(source, _WORDS(source))


xla_log = Parser(
    tool="JAX and TensorFlow",
    marks=(
        "unhealthy",
        "eartbeat",
        "another task",
        "is down",
        "unexpectedly disconnected",
        "Barrier timed out",
        "DEADLINE_EXCEEDED",
        "ailed to connect to",
        "Termination timeout",
        "has been waiting for `",
        "Thread is unstuck",
    ),
    reader=_reader,
    rank=63,
    longest=2048,
)
