"""What HCCL, the collective library of Ascend processors, says in its numbered errors.

Every error begins with a code EI and four digits, then stamps, then a sentence.
"""

import errno
import re
from collections.abc import Callable, Sequence

from weft.observe.facts.base import Fact, Process
from weft.observe.facts.collectives import CollectiveMismatch, CollectiveTimeout
from weft.observe.facts.programs import Message
from weft.observe.facts.verbs import CallFailed, CompletionError
from weft.observe.parser import READ, Parser
from weft.observe.parsers._values import integer
from weft.observe.patterns import Line, pattern, table

_LIBRARY = "HCCL"
_REMOTE = re.compile(r"remote rank ?:? ?\[?(\d{1,6})")
_ADDRESSES = re.compile(r"device IP ?:? ?\[?(\d[\d.]{5,13}\d)")
_RETRY_EXCEEDED = 12
_WHERE = Callable[[Line], Sequence[Fact]]


def _said(line: Line) -> Sequence[Fact]:
    return (
        Message(
            software=_LIBRARY, level="error", text=line.text[line.start :].strip()[:300],
            moment=line.moment, process=Process(host=line.host), evidence=line.evidence,
        ),
    )  # fmt: skip


def _waited(line: Line) -> Sequence[Fact]:
    """State a wait for another rank that ended without it."""
    remote = _REMOTE.search(line.text)
    return (
        CollectiveTimeout(
            operation=f"notify from rank {remote[1]}" if remote else "",
            moment=line.moment, process=Process(host=line.host), evidence=line.evidence,
        ),
    )  # fmt: skip


def _unlike(line: Line) -> Sequence[Fact]:
    return (CollectiveMismatch(evidence=line.evidence),)


def _unmet(line: Line) -> Sequence[Fact]:
    """State that ranks did not meet over TCP in time."""
    return (
        CallFailed(
            call="connect", errno=errno.ETIMEDOUT, error="getting socket times out",
            library=_LIBRARY, moment=line.moment, process=Process(host=line.host),
            evidence=line.evidence,
        ),
    )  # fmt: skip


def _completed(line: Line) -> Sequence[Fact]:
    """State an error completion of RoCE; the code says whether the peer was silent."""
    ends = _ADDRESSES.findall(line.text)
    return (
        CompletionError(
            status=_RETRY_EXCEEDED, peer=ends[1] if len(ends) > 1 else "", library=_LIBRARY,
            moment=line.moment, process=Process(host=line.host), evidence=line.evidence,
        ),
    )  # fmt: skip


_CODES: dict[int, _WHERE] = {
    1: _said,
    2: _waited,
    4: _said,
    5: _unlike,
    6: _unmet,
    8: _said,
    13: _completed,
    14: _unlike,
    15: _unmet,
}
"""Sorts of errors by their number [CANN error codes EI0001 to EI0015, HCCL user guide]."""


def _coded(found: re.Match[str], line: Line) -> Sequence[Fact]:
    told = _CODES.get(integer(found["code"]) or 0)
    return told(line) if told else READ


hccl_log = Parser(
    tool="HCCL",
    marks=("EI00",),
    reader=table(pattern("EI00", r"EI(?P<code>00\d\d)\b(?=[:)\]])", _coded)),
    rank=13,
)
