"""The log of a SONiC switch: its PFC watchdog, its ports, and what could not be applied."""

import re
from collections.abc import Sequence

from weft.observe.facts.adapters import CableEvent
from weft.observe.facts.base import Fact
from weft.observe.facts.interfaces import Interface, LinkEvent
from weft.observe.facts.programs import Message
from weft.observe.facts.service_quality import PauseWatchdog
from weft.observe.parser import Parser
from weft.observe.patterns import Line, nothing, pattern, table

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


def _said(found: re.Match[str], line: Line) -> Sequence[Fact]:
    """State what the switch could not apply to a port."""
    return (
        Message(
            software="switch", level="error", text=found[0].strip()[:300],
            moment=line.moment, evidence=line.evidence,
        ),
    )  # fmt: skip


def _dark_module(found: re.Match[str], line: Line) -> Sequence[Fact]:
    """State a port whose module could not be brought to carry data."""
    return (
        Interface(
            interface=found["port"], kind="switch port", enabled=True, up=False,
            reason="module fault: its set-up failed", host=_host(line), evidence=line.evidence,
        ),
    )  # fmt: skip


def _damage(found: re.Match[str], line: Line) -> Sequence[Fact]:
    """State an error that the port's own circuits report of what they receive."""
    return (
        CableEvent(
            device=f"{_host(line)} {found['port']}".strip(), module=None,
            event=f"error: {found['what'].replace('_', ' ')}", host=_host(line),
            moment=line.moment, evidence=line.evidence,
        ),
    )  # fmt: skip


sonic_log = Parser(
    tool="SONiC log",
    marks=("PFC Watchdog ", "oper state set ", "orchagent", "CMIS: ", "oper error event"),
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
        pattern("No lossless TC", r"No lossless TC found on port [\w/.-]{1,40}", _said),
        pattern("Failed to set PFC", r"Failed to set PFC 0x\w{1,4} to port .*", _said),
        pattern(
            "Failed to set ",
            r"Failed to set (?:port:)?\S{0,40} ?.{0,30}buffer (?:profile|pool).*",
            _said,
        ),
        pattern("Failed to set MTU", r"Failed to set MTU \d{1,5} to port .*", _said),
        pattern(
            "Port ",
            r"Port (?P<port>Ethernet\d{1,4}) oper error event: (?P<what>\w*(?:local|fec|ber|"
            r"crc|ser|signal|unit)\w*) occurred",
            _damage,
        ),
        pattern(
            "Port ",
            r"Port Ethernet\d{1,4} oper error event: mac_remote_fault occurred",
            _said,
        ),
        pattern("CMIS: ", r"CMIS: (?P<port>Ethernet\d{1,4}): FAILED", _dark_module),
        pattern("CMIS: ", r"CMIS: (?P<port>Ethernet\d{1,4}):", nothing),
    ),
    rank=36,
)
