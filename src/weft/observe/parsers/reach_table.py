"""Who reaches whom, a pair a line, as scripts sum up many pings or transfers.

``10.0.0.1 -> 10.0.1.2  0/3``, ``mlx5_2 -> 10.7.0.4 rc=1``, ``10.8.0.80 node80 0/3 Destination
Net Unreachable``: whoever writes such a table, a line names an end, the other, and how it went.
So do ``fping`` and ``rping``, and ``ip route get`` where it knows no way.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from weft.observe.facts.aftermath import WorkSeen
from weft.observe.facts.base import Fact
from weft.observe.facts.interfaces import HostReached
from weft.observe.parser import READ, Parser, Source
from weft.observe.patterns import Line

_ADDRESS = r"\d{1,3}(?:\.\d{1,3}){3}"
_LOST = (
    r"fail(?:ed|s)?|FAIL(?:ED)?|time(?:d )?out|TIMEOUT|unreachable|UNREACHABLE|no route|lost"
)
_FINE = r"ok|OK|pass(?:ed)?|PASS(?:ED)?|reachable|alive|\d+(?:\.\d+)? ?ms"
_PAIR = re.compile(
    rf"^\s*(?P<source>[A-Za-z\d][\w.:-]{{0,60}}?)\s*(?:->|\u2192|=>)\s*(?P<to>{_ADDRESS})"
    r"(?:/\d+)?[\s:|]+(?:(?P<received>\d{1,6})/(?P<sent>\d{1,6})\b"
    r"(?P<missed> (?:packets? )?(?:lost|dropped|missing)\b)?|rc=(?P<code>\d{1,3})\b|"
    rf"(?P<lost>{_LOST})\b|(?P<fine>{_FINE})(?:\s|$))"
)
_ROW = re.compile(
    rf"^\s*(?P<to>{_ADDRESS})\s+(?:[A-Za-z][\w.-]{{0,60}}\s+){{0,3}}"
    r"(?P<received>\d{1,6})/(?P<sent>\d{1,6})\s+(?:rtt\b|(?:Destination )?(?:Net|Host)\w* "
    r"[Uu]nreachable|[Tt]imeout|[Nn]o (?:reply|answer|route)|100% (?:packet )?loss)"
)
_SEVERAL = re.compile(
    rf"^\s*(?P<to>{_ADDRESS})\s+(?::\s*xmt/rcv/%loss = "
    r"(?P<sent>\d{1,6})/(?P<received>\d{1,6})/|is (?P<state>alive|unreachable)\b)"
)
"""What ``fping`` sums up."""
_FPING = re.compile(r"\bfping\b(?=(?:.{0,120}\s)?-[IS] ?(?P<source>[\w.:-]{1,60}))?")
_ROUTE_ASKED = re.compile(
    rf"\bip (?:-\w+ )*r(?:oute)? get (?P<to>{_ADDRESS})"
    rf"(?:.{{0,40}}?\bfrom (?P<source>{_ADDRESS}))?"
)
_NO_ROUTE = re.compile(r"^\s*RTNETLINK answers: (?:Network is unreachable|No route to host)")
_BY_CM = re.compile(
    rf"\brping (?=(?:.{{0,80}}\s)?-a ?(?P<to>{_ADDRESS}))"
    rf"(?=(?:.{{0,80}}\s)?-I ?(?P<source>{_ADDRESS}))?"
)
_ANSWER = re.compile(r"^\s*(?:client )?ping data: ")
"""What ``rping -v`` prints of each answer."""


def _pair(found: re.Match[str], line: Line) -> Sequence[Fact]:
    sent = int(found["sent"] or 1)
    fine = bool(found["fine"]) or found["code"] == "0"
    received = int(found["received"]) if found["received"] else int(fine)
    if found["missed"]:
        received = sent - received  # what is counted is what did not arrive
    return (_reached(line, found["to"], found["source"], sent, received),)


def _row(found: re.Match[str], line: Line) -> Sequence[Fact]:
    return (_reached(line, found["to"], "", int(found["sent"]), int(found["received"])),)


def asked_in_vain(line: Line) -> Sequence[Fact]:
    """Return that nobody answered ``rping``, where that is the command typed last."""
    asked = _BY_CM.search(line.source.command)
    return (_reached(line, asked["to"], asked["source"] or "", 1, 0),) if asked else READ


def _reached(line: Line, to: str, source: str, sent: int, received: int) -> HostReached:
    return HostReached(
        target=to, source=source, address=to, sent=sent, received=received, host=line.host,
        evidence=line.evidence,
    )  # fmt: skip


def _summed(found: re.Match[str], line: Line) -> Sequence[Fact]:
    asked = _FPING.search(line.source.command)
    source = (asked["source"] or "") if asked else ""
    sent = int(found["sent"] or 1)
    received = int(found["received"]) if found["received"] else int(found["state"] == "alive")
    return (_reached(line, found["to"], source, sent, received),)


def _unrouted(found: re.Match[str], line: Line) -> Sequence[Fact]:
    """State that the kernel knows no way to the address that was asked for."""
    del found
    asked = _ROUTE_ASKED.search(line.source.command)
    return (_reached(line, asked["to"], asked["source"] or "", 1, 0),) if asked else READ


_SORTS = ((_PAIR, _pair), (_ROW, _row), (_SEVERAL, _summed), (_NO_ROUTE, _unrouted))


@dataclass(slots=True)
class _Reader:
    """Reads rows; what answers ``rping`` is a pair by the command that was typed."""

    source: Source

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return who was reached."""
        line = Line(text, number, self.source)
        asked = _BY_CM.search(self.source.command) if _ANSWER.match(text) else None
        if asked:
            work = WorkSeen(kind="ping", peer=asked["to"], evidence=line.evidence)
            return (work, _reached(line, asked["to"], asked["source"] or "", 1, 1))
        for expression, build in _SORTS:
            found = expression.match(text)
            if found:
                return build(found, line)
        return None

    def end(self) -> Iterable[Fact]:
        """Keep nothing to the end."""
        return READ


reach_table = Parser(
    tool="tables of who reaches whom",
    marks=(
        "->",
        "\u2192",
        "=>",
        "nreachable",
        " rtt ",
        "imeout",
        "% loss",
        "ping data: ",
        "xmt/rcv",
        "is alive",
        "RTNETLINK",
    ),
    reader=_Reader,
    rank=57,
    longest=300,
)
