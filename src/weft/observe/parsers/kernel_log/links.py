"""Links that go up and down, by their driver, bond or the host's network service."""

import re
from collections.abc import Sequence

from weft.observe.facts.base import Fact
from weft.observe.facts.interfaces import LinkEvent
from weft.observe.parsers.kernel_log.lines import as_it_stands, host_of
from weft.observe.patterns import Line, pattern


def link_event(found: re.Match[str], line: Line) -> Sequence[Fact]:
    """State a link whose interface stands in the message."""
    word = found["word"].lower()
    return (
        LinkEvent(
            interface=found["interface"],
            up=word.endswith(("up", "ready", "active")),
            host=host_of(line),
            moment=line.moment,
            evidence=line.evidence,
        ),
    )


def _carrier(found: re.Match[str], line: Line) -> Sequence[Fact]:
    """State what the network service of a host says of a link."""
    return (
        LinkEvent(
            interface=found["interface"],
            up=found["word"] in {"Gained carrier", "link connected"},
            host=host_of(line),
            moment=line.moment,
            evidence=line.evidence,
        ),
    )


_INTERFACE = re.compile(r"(?P<name>[\w.-]{1,32}):? ?$")


def interface_before(found: re.Match[str], line: Line) -> Sequence[Fact]:
    """State a link whose interface stands before the message."""
    who = _INTERFACE.search(line.before[-60:])
    return (
        LinkEvent(
            interface=who["name"] if who else "",
            up=found["word"].lower().endswith(("up", "ready")),
            host=host_of(line),
            moment=line.moment,
            evidence=line.evidence,
        ),
    )


PATTERNS = (
    pattern(
        ": Link is ", r": Link is (?P<word>[Uu]p|[Dd]own)(?P<interface>)", interface_before
    ),
    pattern(
        ": link ",
        r": link (?P<word>up|down)(?P<interface>)(?=\s*$)",
        interface_before,
    ),
    pattern(
        ": Link ",
        r": Link (?P<word>[Uu]p|[Dd]own)(?P<interface>)(?= - \d|\s*$)",
        interface_before,
    ),
    *(
        pattern(
            f"{service}[",
            rf"{service}\[\d{{1,9}}\]: (?:<\w+> {{1,4}}\[[\d.]+\] )?(?:device \()?"
            r"(?P<interface>[a-z][\w.-]{1,30}?)\)?: (?:carrier: )?(?P<word>Gained carrier|"
            r"Lost carrier|link connected|link disconnected|"
            r"state change: activated -> unavailable(?= \(reason 'carrier-changed'))",
            _carrier,
        )
        for service in ("systemd-networkd", "NetworkManager")
    ),
    pattern(
        "(slave ",
        r"\(slave (?P<interface>[\w.-]{1,32})\): link status (?:definitely )?"
        r"(?P<word>up|down)\b",
        link_event,
    ),
    pattern("martian ", r"martian (?:source|destination) .{7,100}?on dev \S+", as_it_stands),
    pattern(
        "link becomes ready", r"(?P<word>link becomes ready)(?P<interface>)", interface_before
    ),
)
