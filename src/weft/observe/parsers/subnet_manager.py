"""``sminfo`` and the log of OpenSM: which subnet manager rules, and what it complains of."""

import re
from collections.abc import Sequence

from weft.observe.facts.base import Fact
from weft.observe.facts.interfaces import LinkEvent
from weft.observe.facts.programs import Message
from weft.observe.facts.subnet import SubnetManager
from weft.observe.parser import Parser
from weft.observe.parsers._values import integer
from weft.observe.patterns import Line, nothing, pattern, table


def _manager(found: re.Match[str], line: Line) -> Sequence[Fact]:
    return (
        SubnetManager(
            state=found["state"].lower(),
            lid=int(found["lid"]),
            guid=found["guid"],
            priority=integer(found["priority"]),
            host=line.host,
            evidence=line.evidence,
        ),
    )


def _none(found: re.Match[str], line: Line) -> Sequence[Fact]:
    del found
    return (SubnetManager(state="none", host=line.host, evidence=line.evidence),)


def _error(found: re.Match[str], line: Line) -> Sequence[Fact]:
    return (
        Message(
            software="OpenSM",
            level="error",
            text=found["text"].strip(),
            place=found["place"],
            moment=line.moment,
            evidence=line.evidence,
        ),
    )


def _port(line: Line, node: str, *, up: bool) -> Sequence[Fact]:
    return (
        LinkEvent(interface=node.strip(), up=up, moment=line.moment, evidence=line.evidence),
    )


def _lost(found: re.Match[str], line: Line) -> Sequence[Fact]:
    return _port(line, found["node"], up=False)


def _met(found: re.Match[str], line: Line) -> Sequence[Fact]:
    return _port(line, found["node"], up=True)


def _notice(found: re.Match[str], line: Line) -> Sequence[Fact]:
    """State a trap that a port sent: thresholds of its link, keys that do not fit."""
    return (
        Message(
            software="OpenSM",
            level="error",
            text=f"trap {found['num']}: {found['text']}",
            moment=line.moment,
            evidence=line.evidence,
        ),
    )


subnet_manager = Parser(
    tool="sminfo and OpenSM",
    marks=(
        "sminfo:",
        "-> ",
        "with GUID",
        "Generic Notice",
        "SUBNET UP",
        "Method 0x",
        "Entering MASTER",
    ),
    reader=table(
        pattern(
            "sminfo: sm lid",
            r"sminfo: sm lid (?P<lid>\d+) sm guid (?P<guid>0x[0-9a-f]+), activity count \d+ "
            r"priority (?P<priority>\d+) state \d+ SMINFO_(?P<state>\w+)",
            _manager,
        ),
        pattern(
            "sminfo:", r"sminfo: iberror: .{0,40}[Ff]ailed to open", nothing
        ),  # no port here
        pattern("sminfo:", r"sminfo: (?:iberror|query failed|.*failed)", _none),
        pattern("0x01 -> ", r"0x01 -> (?P<place>\w+): (?P<text>ERR [0-9A-F]{4}: .*)", _error),
        pattern(
            "Removed port with GUID",
            r"Removed port with GUID:\w+ LID range \[[^\]]*\] of node:(?P<node>.{1,120})",
            _lost,
        ),
        pattern(
            "Discovered new port with GUID",
            r"Discovered new port with GUID:\w+ LID range \[[^\]]*\] of node:"
            r"(?P<node>.{1,120})",
            _met,
        ),
        pattern(
            "Received Generic Notice",
            r"Received Generic Notice type:\d+ num:(?P<num>129|130|131|257|258) "
            r"\((?P<text>[^)]*)\).*",
            _notice,
        ),
        pattern("SM port is down", r"(?P<text>SM port is down)(?P<place>)", _error),
        pattern("0x0", r"0x0\d -> ", nothing),
        pattern("0x8", r"0x80 -> ", nothing),
        pattern("Method 0x", r"Method 0x\w+, Attr", nothing),
    ),
    rank=36,
)
