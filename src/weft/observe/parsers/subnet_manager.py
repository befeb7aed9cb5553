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


def _way(found: re.Match[str], line: Line) -> Sequence[Fact]:
    """State that a switch has no entry that leads to a node, or a port no known neighbour."""
    return (
        Message(
            software="OpenSM", level="error", text=f"no way: {found['text'].strip()}",
            place=found["place"], moment=line.moment, evidence=line.evidence,
        ),
    )  # fmt: skip


def _changed(found: re.Match[str], line: Line) -> Sequence[Fact]:
    """State that a switch told of a link that came or went, which one it does not say."""
    return (
        Message(
            software="OpenSM", level="info", text=f"link state change at LID {found['lid']}",
            place=f"LID {found['lid']}", moment=line.moment, evidence=line.evidence,
        ),
    )  # fmt: skip


def _swept(found: re.Match[str], line: Line) -> Sequence[Fact]:
    """State that the manager has brought its subnet up."""
    return (
        Message(
            software="OpenSM", level="info", text=found["text"], moment=line.moment,
            evidence=line.evidence,
        ),
    )  # fmt: skip


subnet_manager = Parser(
    tool="sminfo and OpenSM",
    marks=(
        "sminfo:",
        "-> ",
        "with GUID",
        "Generic Notice",
        " Notice ",
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
        pattern(
            "0x01 -> ",
            r"0x01 -> (?P<place>\w+): (?P<text>ERR [0-9A-F]{4}: (?:Dead end path|Can(?:'|no)t "
            r"find (?:a )?(?:routing|path)|Path .{0,60}too long|Unknown remote side).*)",
            _way,
        ),
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
        pattern(
            "Reporting ",
            r"Reporting .{0,40}?[Ll]ink state change.{0,40}?LID:? ?(?P<lid>\d{1,5})\b",
            _changed,
        ),
        pattern("SM port is down", r"(?P<text>SM port is down)(?P<place>)", _error),
        pattern(
            "Errors during",
            r"(?P<text>Errors during initialization)(?P<place>)",
            _error,
        ),
        pattern("SUBNET UP", r"(?P<text>SUBNET UP)", _swept),
        pattern("0x0", r"0x0\d -> ", nothing),
        pattern("0x8", r"0x80 -> ", nothing),
        pattern("Method 0x", r"Method 0x\w+, Attr", nothing),
    ),
    rank=36,
)
