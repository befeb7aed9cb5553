"""The MTU of interfaces and adapters in one line each, as loops over many hosts print it.

``gpu-a: ens1 mtu 9000``, ``gpu-a: mlx5_0 port 1 active_mtu: 4096 (5) link_layer: Ethernet``.
"""

import re
from collections.abc import Sequence

from weft.observe.facts.adapters import AdapterPort
from weft.observe.facts.base import Fact
from weft.observe.facts.interfaces import Interface
from weft.observe.parser import Parser
from weft.observe.parsers._values import layer
from weft.observe.patterns import Line, words

_INTERFACE = re.compile(
    r"^\s*(?!(?:max|min|path|active|link|interface|ip|ipv[46]|tcp|default|new|old|current|"
    r"oper|admin|actual|expected|the|with|set|l[23])\b)"
    r"(?P<name>[a-z][\w.-]{1,30}?):? mtu[ =:]+(?P<mtu>\d{3,5})\s*$",
    re.IGNORECASE,
)
_PORT = re.compile(
    r"^\s*(?P<adapter>(?:mlx|bnxt_re|irdma|roce|ib|qedr|rdma|hns|ionic|erdma)\w*?)"
    r"(?:(?:[ /:]|,? port[ :=]*)(?P<port>\d{1,2}))?:?,? (?:max_mtu[ :=]+\d{3,4} \(\d\),? )?"
    r"active_mtu[ :=]+(?P<mtu>\d{3,4})\b(?:.{0,60}?link_layer[ :=]+(?P<layer>\w+))?"
)


def _interface(found: re.Match[str], line: Line) -> Sequence[Fact]:
    return (
        Interface(
            interface=found["name"], mtu_bytes=int(found["mtu"]), host=line.host,
            evidence=line.evidence,
        ),
    )  # fmt: skip


def _port(found: re.Match[str], line: Line) -> Sequence[Fact]:
    return (
        AdapterPort(
            adapter=found["adapter"],
            port=int(found["port"] or 1),
            active_mtu_bytes=int(found["mtu"]),
            link_layer=layer(found["layer"] or ""),
            host=line.host,
            evidence=line.evidence,
        ),
    )


packet_sizes = Parser(
    tool="MTU, a line each",
    marks=(" mtu ", " mtu=", "active_mtu"),
    reader=words((_PORT, _port), (_INTERFACE, _interface)),
    rank=62,
    longest=300,
)
