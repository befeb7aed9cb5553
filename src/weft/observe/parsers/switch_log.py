"""What the logs of Ethernet switches say beside the states of ports: buffers, optics, errors.

EOS, NX-OS and IOS name the facility, the severity and a word: ``%FACILITY-4-WORD: text``;
NVUE, Junos and SONiC write sentences. A line of severity 5 or more is a notice.
"""

import re
from collections.abc import Sequence

from weft.observe.facts.adapters import CableEvent
from weft.observe.facts.base import Fact
from weft.observe.facts.programs import Message
from weft.observe.moments import moment
from weft.observe.parser import Parser
from weft.observe.patterns import Line, words

_PORT = r"(?:Ethernet|Eth|et-|xe-|swp|port )\s?[\d/:.]{1,16}"
_BUFFER = re.compile(
    r"%(?:TAHUSD|QUEUE_MONITOR|BUFFER|QOSMGR|CONGESTION|ETHPORT|LANZ|IPQOSMGR)[\w-]{0,20}?-"
    r"(?P<severity>\d)-(?P<word>\w*(?:BUFFER|LENGTH|QUEUE|DROP|CONGEST)\w*): (?P<text>"
    r"(?!.{0,80}PFC).{1,240})"
)
_OPTICS = re.compile(
    r"%[A-Z][\w-]{2,30}-(?P<severity>[0-5])-(?P<word>\w*(?:XCVR|SFP|DOM|OPTIC|TRANSCEIVER)"
    rf"\w*): (?:Interface )?(?P<port>{_PORT})?,?\s?(?P<text>.{{0,120}}?(?:[Aa]larm|[Ww]arning|"
    r"[Ff]ault|unsupported|[Ii]nvalid|[Ff]ailed).{0,80})"
)
_CLEARED = re.compile(r"clear|normal|recover|removed", re.IGNORECASE)
_HOST = re.compile(r"\d\d:\d\d:\d\d\S* (?P<host>[A-Za-z][\w.-]{1,80}) ")


def _host(line: Line) -> str:
    found = _HOST.search(line.text[:120])
    return found["host"] if found else line.host


def _buffer(found: re.Match[str], line: Line) -> Sequence[Fact]:
    return (
        Message(
            software="switch",
            level="warning",
            text=f"{found['word']}: {found['text'].strip()}",
            moment=moment(line.text),
            evidence=line.evidence,
        ),
    )


def _optics(found: re.Match[str], line: Line) -> Sequence[Fact]:
    if _CLEARED.search(found["text"]):
        return ()
    return (
        CableEvent(
            device=(found["port"] or "").strip() or "a port",
            module=None,
            event=f"error: {found['text'].strip().lower()}"[:160],
            host=_host(line),
            moment=moment(line.text),
            evidence=line.evidence,
        ),
    )


switch_log = Parser(
    tool="switch log",
    marks=("%TAHUSD", "%QUEUE_MONITOR", "%BUFFER", "%QOSMGR", "XCVR", "SFP_", "DOM_", "OPTIC"),
    reader=words((_BUFFER, _buffer), (_OPTICS, _optics)),
    rank=34,
    longest=1024,
)
