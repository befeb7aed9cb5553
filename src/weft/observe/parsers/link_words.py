"""What other systems log of links: FreeBSD, ESXi, and a SONiC switch's Broadcom driver."""

import re
from collections.abc import Sequence

from weft.observe.facts.base import Fact
from weft.observe.facts.interfaces import LinkEvent
from weft.observe.moments import moment
from weft.observe.parser import READ, Parser
from weft.observe.patterns import Line, words

_BSD = re.compile(r"\b(?P<name>[a-z]{2,10}\d{1,3}): link state changed to (?P<way>UP|DOWN)\b")
_ESX = re.compile(r"Physical NIC (?P<name>vmnic\d{1,3}) linkstate is (?P<way>up|down)")
_UPLINK = re.compile(r"\[vob\.net\.pg\.uplink\.transition\.(?:up|down)\]")
_CHIP_UP = re.compile(r"Port (?P<name>\d{1,4}) link status event: (?P<way>UP)\b")
_CHIP_DOWN = re.compile(
    r"Port (?P<name>\d{1,4}) link (?P<way>down) event cause: (?P<cause>\w+)"
)
_CHIP = re.compile(r"Port \d{1,4} link status event: DOWN\b")
_OF_OTHERS = re.compile(r"(?:vlan|bridge|lagg|lo|tun|tap|gif|epair|wg)\d")
"""Interfaces that only follow another one."""


def _changed(found: re.Match[str], line: Line) -> Sequence[Fact]:
    """State a change; one that was made by hand says nothing."""
    by_hand = found.groupdict().get("cause", "") == "ADMIN_DOWN"
    if by_hand or _OF_OTHERS.match(found["name"]):
        return READ
    name = f"port {found['name']}" if found["name"].isdigit() else found["name"]
    return (
        LinkEvent(
            interface=name, up=found["way"].lower() == "up", moment=moment(line.text),
            host=line.host, evidence=line.evidence,
        ),
    )  # fmt: skip


def _nothing(found: re.Match[str], line: Line) -> Sequence[Fact]:
    del found, line
    return READ


link_words = Parser(
    tool="links in system logs",
    marks=("link state changed to", "linkstate is", "link status event", "link down event",
           "uplink.transition"),
    reader=words(
        (_BSD, _changed), (_ESX, _changed), (_CHIP_DOWN, _changed), (_CHIP_UP, _changed),
        (_CHIP, _nothing), (_UPLINK, _nothing),
    ),
    rank=19,
)  # fmt: skip
