"""``iblinkinfo``: every cable of the fabric, one line each (``-l``) or grouped by node."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from weft.observe.facts.base import Fact, PhysicalState, PortState
from weft.observe.facts.subnet import FabricLink
from weft.observe.parser import READ, Parser, Source
from weft.observe.parsers._values import integer, physical, speeds, state

_GROUP = re.compile(
    r"\s*(?P<kind>Switch|CA|Router):? +(?:(?P<guid>0x[0-9a-f]+) )?(?P<name>.*?):?\s*$"
)
_LINE = re.compile(
    r"\s*(?:(?P<guid>0x[0-9a-f]{4,16}) +(?:\"(?P<name>[^\"]*)\" +)?)?(?P<lid>\d+) +"
    r"(?P<port>\d+)\[ *\w* *\] "
    r"==\( *(?P<link>[^)]*)\) *==> *(?P<rest>.*)"
)
_PEER = re.compile(
    r"(?:(?P<guid>0x[0-9a-f]{4,16}) +)?(?:(?P<lid>\d+) +(?P<port>\d+))? *\[ *\w* *\] +"
    r"\"(?P<name>[^\"]*)\""
    r"(?: *\((?P<could>[^)]*)\))?"
)
_WIDTH = re.compile(r"(\d{1,2})X")


@dataclass(slots=True)
class _Reader:
    """Reads cables, remembering the node whose group they stand in."""

    source: Source
    guid: str = ""
    name: str = ""

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return the cable of a line."""
        if "==(" not in text:
            return self._group(text)
        found = _LINE.match(text)
        if not found:
            return None
        peer = _PEER.match(found["rest"])
        could = (peer["could"] or "") if peer else ""
        link = found["link"]
        lanes = _WIDTH.search(link)
        able = _WIDTH.search(could)
        return (
            FabricLink(
                guid=found["guid"] or self.guid,
                name=(found["name"] if found["name"] is not None else self.name).strip(),
                lid=integer(found["lid"]),
                port=int(found["port"]),
                state=state(link) if link.strip() else PortState.UNKNOWN,
                physical_state=physical(link) if link.strip() else PhysicalState.UNKNOWN,
                lanes=int(lanes[1]) if lanes else None,
                lane_bytes_per_s=max(speeds(link), default=None),
                peer_guid=(peer["guid"] or "") if peer else "",
                peer_name=peer["name"].strip() if peer else "",
                peer_port=integer(peer["port"]) if peer else None,
                peer_lid=integer(peer["lid"]) if peer else None,
                could_be_lanes=int(able[1]) if able else None,
                could_be_lane_bytes_per_s=max(speeds(could), default=None),
                evidence=self.source.evidence(text, number),
            ),
        )

    def end(self) -> Iterable[Fact]:
        """Keep nothing to the end."""
        return READ

    def _group(self, text: str) -> Sequence[Fact] | None:
        found = _GROUP.match(text)
        if not found or not text.rstrip().endswith(":"):
            return None
        self.guid, self.name = found["guid"] or "", found["name"]
        return READ


iblinkinfo = Parser(
    tool="iblinkinfo", marks=("==(", "Switch: 0x", "CA: "), reader=_Reader, rank=28
)
