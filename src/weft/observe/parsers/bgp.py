"""Sessions of BGP and BFD: ``show (ip) bgp summary`` of FRR, SONiC, EOS, NX-OS, Junos; logs.

A row names the neighbour, its number, counts of messages, how long the session stands so, and
then its state, or the number of prefixes where it is established.
"""

import re
from collections.abc import Sequence

from weft.observe.facts.base import Fact
from weft.observe.facts.interfaces import RoutingSession
from weft.observe.facts.programs import Message
from weft.observe.moments import moment
from weft.observe.parser import READ, Parser
from weft.observe.patterns import Line, nothing, words

_SINCE = (
    r"(?:never|\d{1,3}:\d\d(?::\d\d)?|(?:\d{1,4}y)?(?:\d{1,3}w)?(?:\d{1,3}d)?(?:\d{1,2}h)?"
    r"(?:\d{1,2}m)?(?<=[ywdhm])|\d{1,3}d \d{1,2}:\d\d:\d\d|\d{1,3}w\d{1,2}d \d{1,2}:\d\d:\d\d)"
)
_ROW = re.compile(
    r"^\s*(?:[\w.-]{1,40}\s+)?(?P<peer>[\da-fA-F]{1,4}[.:][\da-fA-F.:]{2,40}|"
    r"[\w.-]{1,60}\([\w.:]{1,60}\)|(?:swp|Ethernet|Et|eth|PortChannel)[\w/.]{1,16})\s+"
    rf"(?:[46]\s+)?\d{{1,10}}(?:\.\d{{1,5}})?\s+(?:\d{{1,12}}\s+){{2,6}}{_SINCE}\s+"
    r"(?P<state>Idle(?: ?\((?P<why>\w+)\))?|Active|Connect|OpenSent|OpenConfirm|Estab\w*|"
    r"Establ|\d{1,8})(?:[\s/|]|$)"
)
_HEAD = re.compile(r"^\s*(?:Description\s+)?(?:Neigh\w+\s+V\s+AS|Peer\s+AS\s+InPkt)\s")


def _session(found: re.Match[str], line: Line) -> Sequence[Fact]:
    state = found["state"]
    return (
        RoutingSession(
            neighbour=found["peer"],
            state="Established" if state.isdigit() else state,
            established=state.isdigit() or state.startswith("Estab"),
            stopped=(found["why"] or "").lower() == "admin",
            host=line.host,
            evidence=line.evidence,
        ),
    )


_CHANGED = re.compile(
    r"ADJCHANGE: (?:\S{1,30} \[\d+\] )?(?:neighbor|peer) (?P<peer>\S{2,60}).{0,40}?\s"
    r"(?P<word>Up|Down|old state \w+ event \w+ new state (?P<new>\w+))\b(?P<why>.{0,80})"
)
_DETECTED = re.compile(
    r"Session-Change: \[.{0,30}?peer:(?P<peer>[\da-fA-F.:]{2,45}).{0,160}\] \w+ -> "
    r"(?P<word>up|down)(?P<why>.{0,60})"
)
_WHY_OF_OTHERS = re.compile(
    r"[Ii]nterface|[Aa]dmin|[Rr]eset|[Uu]ser|peer closed|[Cc]onfig|graceful|Cease|Stop|"
    r"neighbor-d"
)
"""Reasons that are no lost path: a port, somebody's command, the other end's own ending."""


def _changed(found: re.Match[str], line: Line) -> Sequence[Fact]:
    """State a session that a log says was lost for want of an answer, or stands again."""
    word = (found.groupdict().get("new") or found["word"]).lower()
    up = word in {"up", "established"}
    if not up and _WHY_OF_OTHERS.search(f"{found['word']} {found['why']}"):
        return READ
    state = "stands" if up else "is lost"
    return (
        Message(
            software="routing", level="info" if up else "warning",
            text=f"session {state}: {found['peer']}{found['why'].rstrip()}",
            place=found["peer"], moment=moment(line.text), evidence=line.evidence,
        ),
    )  # fmt: skip


bgp = Parser(
    tool="BGP sessions",
    marks=(
        "ADJCHANGE: ",
        "Session-Change: ",
        "Up/Down",
        "State/PfxRcd",
        "State|#Active",
        "PfxRcd",
    ),
    reader=words(
        (_ROW, _session), (_HEAD, nothing), (_CHANGED, _changed), (_DETECTED, _changed)
    ),
    rank=58,
    longest=300,
)
