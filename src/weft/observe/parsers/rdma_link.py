"""``rdma link``, ``rdma dev`` and ``rdma statistic``: the kernel's view of RDMA devices."""

import re
from collections.abc import Sequence

from weft.observe.facts.adapters import AdapterPort, AdapterSeen
from weft.observe.facts.base import Fact, LinkLayer
from weft.observe.facts.interfaces import Counter
from weft.observe.parser import Parser
from weft.observe.parsers._values import integer, physical, state
from weft.observe.patterns import Line, nothing, pattern, table

_PAIR = re.compile(r"([a-z]\w{3,60}) (\d{1,20})(?=\s|$)")


def _link(found: re.Match[str], line: Line) -> Sequence[Fact]:
    rest = found["rest"]
    value = dict(re.findall(r"\b(lid|sm_lid|netdev) (\S+)", rest))
    infiniband = "sm_lid" in value or "subnet_prefix" in rest
    ethernet = "netdev" in value and not infiniband
    return (
        AdapterPort(
            adapter=found["name"],
            port=int(found["port"]),
            state=state(found["state"]),
            physical_state=physical(found["physical"] or ""),
            link_layer=LinkLayer.INFINIBAND
            if infiniband
            else LinkLayer.ETHERNET
            if ethernet
            else LinkLayer.UNKNOWN,
            lid=integer(value.get("lid")),
            sm_lid=integer(value.get("sm_lid")),
            interface=value.get("netdev", ""),
            host=line.host,
            evidence=line.evidence,
        ),
    )


def _device_before(found: re.Match[str], line: Line) -> Sequence[Fact]:
    name = re.search(r"(?:\d+: )?(\w[\w.-]{0,40}): $", line.before[-60:])
    if not name:
        return ()
    return (
        AdapterSeen(
            adapter=name[1],
            kind=found["kind"],
            firmware=found["firmware"] or "",
            guid=found["guid"] or "",
            host=line.host,
            evidence=line.evidence,
        ),
    )


def _regions(found: re.Match[str], line: Line) -> Sequence[Fact]:
    """State how many memory regions a device holds."""
    name = re.search(r"(\w[\w.-]{0,40}): $", line.before[-60:])
    regions = int(found["regions"])
    where = name[1] if name else ""
    return (Counter(where=where, name="mr", value=regions, host=line.host,
                    evidence=line.evidence),)  # fmt: skip


def _statistic(found: re.Match[str], line: Line) -> Sequence[Fact]:
    return tuple(
        Counter(
            where=found["name"],
            port=int(found["port"]),
            name=name,
            value=int(value),
            host=line.host,
            evidence=line.evidence,
        )
        for name, value in _PAIR.findall(found["rest"])
    )


rdma_link = Parser(
    tool="rdma",
    marks=("link ", " qp ", "node_type ", "physical_state", "cm_id ", "NETLINK_RDMA"),
    reader=table(
        pattern(
            "link ", r"link [\w.-]+/(?:\d+|-) (?:lqpn|cm_idn|cqn|mrn|pdn|srqn) \d", nothing
        ),
        pattern("Failed to open NETLINK_RDMA", r"Failed to open NETLINK_RDMA socket", nothing),
        pattern(
            "pd ", r"pd \d+ cq \d+ qp \d+ (?:cm_id \d+ )?mr (?P<regions>\d{1,15})", _regions
        ),
        pattern("pd ", r"pd \d+ cq \d+ qp \d+ cm_id \d+", nothing),
        pattern("dev ", r"dev [\w.-]+ (?:cqn|mrn|pdn|ctxn|srqn) \d", nothing),
        pattern(
            "link ",
            r"link (?P<name>[\w.-]+)/(?P<port>\d+) (?P<rest>.*?state (?P<state>[A-Z]+)"
            r"(?: physical_state (?P<physical>[A-Z_]+))?.*)",
            _link,
        ),
        pattern(
            "node_type ",
            r"(?P<name>)node_type (?P<kind>\w+)(?: fw (?P<firmware>\S+))?"
            r"(?: node_guid (?P<guid>\S+))?",
            _device_before,
        ),
        pattern(
            "link ",
            r"link (?P<name>[\w.-]+)/(?P<port>\d+) (?P<rest>[a-z]\w+ \d+.*)",
            _statistic,
        ),
    ),
    rank=35,
)
