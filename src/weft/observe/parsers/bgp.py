"""Sessions of BGP: ``show (ip) bgp summary`` of FRR, SONiC, EOS, NX-OS and Junos.

A row names the neighbour, its number, counts of messages, how long the session stands so, and
then its state, or the number of prefixes where it is established.
"""

import re
from collections.abc import Sequence

from weft.observe.facts.base import Fact
from weft.observe.facts.interfaces import RoutingSession
from weft.observe.parser import Parser
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


bgp = Parser(
    tool="BGP sessions",
    marks=("Up/Down", "State/PfxRcd", "State|#Active", "PfxRcd"),
    reader=words((_ROW, _session), (_HEAD, nothing)),
    rank=58,
    longest=300,
)
