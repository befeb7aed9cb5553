"""What the lines of all families share: the host that wrote them, names of devices."""

import re
from collections.abc import Sequence

from weft.observe.facts.base import Fact
from weft.observe.facts.programs import Message
from weft.observe.patterns import Line

BUS = re.compile(r"\b[0-9a-fA-F]{4}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}(?:\.\d)?\b")
DEVICE = r"(?P<device>[0-9a-fA-F]{4}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.\d)"
_HOST = re.compile(
    r"\d\d:\d\d:\d\d(?:\.\d+)?(?:[+-]\d\d:\d\d)? (?P<host>[\w.-]+) (?:kernel|systemd|nvidia)"
)


def host_of(line: Line) -> str:
    """Return the host that wrote a line, as its stamp or its source says."""
    found = _HOST.search(line.before[:200])
    return found["host"] if found else line.host


def as_it_stands(found: re.Match[str], line: Line) -> Sequence[Fact]:
    """State what the kernel says in its own words."""
    return (
        Message(
            software="kernel",
            level="error",
            text=found[0].strip(),
            moment=line.moment,
            evidence=line.evidence,
        ),
    )
