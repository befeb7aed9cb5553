"""The log of a SONiC switch: what its PFC watchdog did, ports that went up and down."""

import re
from collections.abc import Sequence

from weft.observe.facts.base import Fact
from weft.observe.facts.interfaces import LinkEvent
from weft.observe.facts.service_quality import PauseWatchdog
from weft.observe.parser import Parser
from weft.observe.patterns import Line, pattern, table

_HOST = re.compile(r"\w{3} {1,2}\d{1,2} [\d:.]{8,15} (?P<host>[\w.-]{1,80}) ")


def _host(line: Line) -> str:
    found = _HOST.search(line.before)
    return found["host"] if found else line.host


def _storm(found: re.Match[str], line: Line) -> Sequence[Fact]:
    began = found["what"].startswith("detected")
    return (
        PauseWatchdog(
            port=found["port"],
            queue=int(found["queue"]),
            status="stormed" if began else "operational",
            storms_detected=1 if began else None,
            storms_restored=None if began else 1,
            host=_host(line),
            evidence=line.evidence,
        ),
    )


def _port(found: re.Match[str], line: Line) -> Sequence[Fact]:
    return (
        LinkEvent(
            interface=found["port"],
            up=found["state"] == "up",
            host=_host(line),
            moment=line.moment,
            evidence=line.evidence,
        ),
    )


sonic_log = Parser(
    tool="SONiC log",
    marks=("PFC Watchdog ", "oper state set "),
    reader=table(
        pattern(
            "PFC Watchdog ",
            r"PFC Watchdog (?P<what>detected PFC storm|storm restored) on port "
            r"(?P<port>[\w/.-]{1,40}), queue index (?P<queue>\d{1,2})",
            _storm,
        ),
        pattern(
            "Port ",
            r"Port (?P<port>Ethernet\d{1,4}) oper state set (?:from \w{2,8} to )?"
            r"(?P<state>up|down)",
            _port,
        ),
    ),
    rank=36,
)
