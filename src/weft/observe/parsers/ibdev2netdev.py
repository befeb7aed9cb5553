"""``ibdev2netdev``: which network interface belongs to which adapter port."""

import re
from collections.abc import Sequence

from weft.observe.facts.adapters import AdapterInterface, AdapterSeen
from weft.observe.facts.base import Fact
from weft.observe.parser import Parser
from weft.observe.patterns import Line, pattern, table


def _pair(found: re.Match[str], line: Line) -> Sequence[Fact]:
    pair = AdapterInterface(
        adapter=found["adapter"],
        port=int(found["port"]),
        interface=found["interface"],
        up=found["state"].lower() == "up",
        host=line.host,
        evidence=line.evidence,
    )
    if not found["bus"]:
        return (pair,)
    seen = AdapterSeen(
        adapter=found["adapter"],
        kind=found["kind"] or "",
        bus_id=found["bus"],
        host=line.host,
        evidence=line.evidence,
    )
    return (seen, pair)


ibdev2netdev = Parser(
    tool="ibdev2netdev",
    marks=("==> ",),
    reader=table(
        pattern(
            "",
            r"\s*(?:(?P<bus>[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.\d) )?(?P<adapter>[\w.-]+) "
            r"(?:\((?P<kind>[^)]*)\)?[^=>]{0,200}? )?port (?P<port>\d+) (?:\([^)]*\) "
            r")?==> (?P<interface>\S+) "
            r"\((?P<state>Up|Down)\)",
            _pair,
        ),
        pattern(
            "",
            r"\s*(?P<bus>)(?P<kind>)(?P<adapter>[\w.-]+) port (?P<port>\d+) ==> "
            r"(?P<interface>\S+) \((?P<state>Up|Down)\)",
            _pair,
        ),
    ),
    rank=25,
)
