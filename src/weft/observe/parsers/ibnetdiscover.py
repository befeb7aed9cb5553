"""``ibnetdiscover``: the nodes of the fabric and the cables between them.

The node that a cable line belongs to is the one declared above it.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from weft.observe.facts.base import Fact, PortState
from weft.observe.facts.subnet import FabricLink, FabricNode
from weft.observe.parser import READ, Parser, Source
from weft.observe.parsers._values import integer, lane_rate

_NODE = re.compile(
    r"(?P<kind>Switch|Ca|Rt)\s+(?P<ports>\d+)\s+\"(?P<id>[SHR]-[0-9a-f]+)\"\s*(?:#\s*"
    r"\"(?P<name>[^\"]*)\")?"
    r"(?:.*? lid (?P<lid>\d+))?"
)
_CABLE = re.compile(
    r"\[(?P<port>\d+)\](?:\((?P<own>[0-9a-f]+)\))?\s+\"(?P<peer>[SHR]-[0-9a-f]+)\"\["
    r"(?P<far>\d+)\]"
    r"(?:\((?P<guid>[0-9a-f]+)\))?\s*(?:#(?P<note>.*))?"
)
_NOTE = re.compile(
    r"\"(?P<name>[^\"]*)\"|lid (?P<lid>\d+)|(?P<lanes>\d{1,2})x(?P<speed>[A-Z]+\d*)"
)
_HEADER = re.compile(
    r"(?:vendid|devid|sysimgguid|switchguid|caguid|rtguid)=0x|# Topology file|# "
    r"Initiated from|# Chassis|#\s*$"
)
_KINDS = {"Switch": "switch", "Ca": "adapter", "Rt": "router"}


@dataclass(slots=True)
class _Reader:
    """Reads declarations and cables."""

    source: Source
    guid: str = ""
    name: str = ""
    lid: int | None = None

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return the node or cable of a line."""
        node = _NODE.match(text)
        if node:
            self.guid, self.name = f"0x{node['id'][2:]}", node["name"] or ""
            self.lid = integer(node["lid"])
            return (
                FabricNode(
                    kind=_KINDS[node["kind"]],
                    guid=self.guid,
                    name=self.name,
                    ports=int(node["ports"]),
                    lid=self.lid,
                    evidence=self.source.evidence(text, number),
                ),
            )
        cable = _CABLE.match(text)
        if cable and self.guid:
            return (self._cable(cable, text, number),)
        return READ if _HEADER.match(text) else None

    def end(self) -> Iterable[Fact]:
        """Keep nothing to the end."""
        return READ

    def _cable(self, cable: "re.Match[str]", text: str, number: int) -> FabricLink:
        notes = list(_NOTE.finditer(cable["note"] or ""))
        names = [n["name"] for n in notes if n["name"] is not None]
        lids = [int(n["lid"]) for n in notes if n["lid"]]
        speeds = [n for n in notes if n["lanes"]]
        return FabricLink(
            guid=self.guid,
            name=self.name,
            port=int(cable["port"]),
            lid=self.lid,
            state=PortState.ACTIVE,
            lanes=int(speeds[0]["lanes"]) if speeds else None,
            lane_bytes_per_s=lane_rate(speeds[0]["speed"]) if speeds else None,
            peer_guid=f"0x{cable['peer'][2:]}",
            peer_name=names[-1] if names else "",
            peer_port=int(cable["far"]),
            peer_lid=lids[-1] if lids else None,
            evidence=self.source.evidence(text, number),
        )


ibnetdiscover = Parser(
    tool="ibnetdiscover",
    marks=('"S-', '"H-', "switchguid=", "caguid=", "# Topology file"),
    reader=_Reader,
    rank=28,
)
