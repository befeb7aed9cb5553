"""``ibdiagnet2.net_dump``: every port of every node, with who is at the other end.

A node's heading is its description in quotes; a row has its cells between colons.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from weft.observe.facts.base import Fact
from weft.observe.facts.subnet import FabricLink
from weft.observe.parser import READ, Parser, Source
from weft.observe.parsers._values import integer, lane_rate, physical, state

_NODE = re.compile(
    r"\"(?P<name>[^\"]{1,120})\", {1,4}[\w .-]{0,60}, {1,4}(?P<guid>0x[0-9a-fA-F]{1,16}), "
    r"{1,4}LID (?P<lid>\d{1,5})"
)
_HEAD = re.compile(r"\s{0,8}#\s{0,20}: IB#\s{0,20}: Sta")
_CELL = re.compile(r"\s+:\s+")
_COLUMNS = (9, 13)
"""A port without a neighbour ends before it."""
_GENERATIONS = {
    "2.5": "SDR", "5": "DDR", "10": "QDR", "FDR10": "FDR10", "14": "FDR", "25": "EDR",
    "50": "HDR", "100": "NDR", "200": "XDR",
}  # fmt: skip
"""As the column LSA names the rate of a lane."""


@dataclass(slots=True)
class _Reader:
    """Reads ports, remembering the node above."""

    source: Source
    name: str = ""
    guid: str = ""
    lid: int | None = None

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return the cable of a line."""
        node = _NODE.match(text)
        if node:
            self.name, self.guid, self.lid = node["name"], node["guid"], integer(node["lid"])
            return READ
        if _HEAD.match(text):
            return READ
        cells = _CELL.split(text.strip()) if self.guid and text.count(" :") > 1 else []
        port = integer(cells[1]) if len(cells) >= _COLUMNS[0] else None
        if port is None:
            return None
        peer = cells[-4:] if len(cells) >= _COLUMNS[1] else ["", "", "", ""]
        return (
            FabricLink(
                guid=self.guid,
                name=self.name,
                port=port,
                lid=self.lid,
                state=state(cells[2].replace("ACT", "ACTIVE")),
                physical_state=physical(cells[3]),
                lanes=integer(cells[5]),
                lane_bytes_per_s=_lane(cells[6]),
                peer_guid=peer[0] if peer[0].startswith("0x") else "",
                peer_name=peer[3].strip('"'),
                peer_port=integer(peer[1].rpartition("/")[2]),
                peer_lid=integer(peer[2]),
                evidence=self.source.evidence(text, number),
            ),
        )

    def end(self) -> Iterable[Fact]:
        """Keep nothing to the end."""
        return READ


def _lane(cell: str) -> float | None:
    return lane_rate(_GENERATIONS.get(cell, cell))


ibdiagnet_dump = Parser(
    tool="ibdiagnet net_dump", marks=(" LID ", ": IB#", " : "), reader=_Reader, rank=61
)
