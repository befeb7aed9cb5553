"""``ibportstate`` and ``smpquery portinfo``: what a port supports, allows and runs at."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from weft.observe.facts.adapters import LinkTraining
from weft.observe.facts.base import Evidence, Fact
from weft.observe.parser import READ, Parser, Source
from weft.observe.parsers._values import integer, physical, speeds, state

_OPENS = re.compile(r"# Port info: (?:Lid|DR path) (?P<where>.+?) port (?P<port>\d+)")
_EXTENDED = re.compile(r"# MLNX ext Port info")
_TITLE = re.compile(
    r"(?:Initial |After PortInfo set\.?|Peer )?(?:CA/RT |Switch |CA |)PortInfo:"
)
_FIELD = re.compile(
    r"(?P<name>LinkState|PhysLinkState|Lid|SMLid|LMC|LinkWidth\w+|LinkSpeed\w+|Mkey\w*"
    r"|ProtectBits|"
    r"NeighborMTU|VLCap|OperVLs|CapMask|StateChangeEnable|\w+):\.{2,}(?P<value>.*?)\s*$"
)
_WIDTHS = re.compile(r"(\d+)X")
_TRAINED = {"LinkWidthActive", "LinkSpeedExtActive"}
_ASKED = re.compile(r"\b(?:smpquery|ibportstate) .{0,40}?-C ?(?P<name>[\w.-]{2,40})")
_ENCODED = {"Supported": "supported", "Enabled": "enabled", "Active": "active"}


@dataclass(slots=True)
class _Reader:
    """Gathers the fields of a port; the vendor's block repeats names and is skipped."""

    source: Source
    fields: dict[str, str] = field(default_factory=dict)
    where: Evidence | None = None
    name: str = ""
    port: int | None = None
    vendor: bool = False

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return the port that a line completes."""
        opens = _OPENS.match(text)
        if opens:
            done = tuple(self.end())
            self.name, self.port = f"lid {opens['where']}", int(opens["port"])
            self.where, self.vendor = self.source.evidence(text, number), False
            return done
        if _EXTENDED.match(text):
            self.vendor = True
            return READ
        if _TITLE.match(text):
            return READ
        found = _FIELD.match(text) if self.name or "Link" in text[:5] else None
        if not found:
            return None
        if not self.vendor:
            self.fields[found["name"]] = found["value"]
            if found["name"] in {"LinkWidthActive", "LinkSpeedExtActive"}:
                self.where = self.source.evidence(text, number)
        return READ

    def end(self) -> Iterable[Fact]:
        """State the last port."""
        fields, self.fields = self.fields, {}
        asked = _ASKED.search(self.source.command)
        if self.where is None or not fields.keys() & _TRAINED:
            return ()
        speed = {key: _speed(fields, key) for key in _ENCODED}
        return (
            LinkTraining(
                where=self.name or (asked["name"] if asked else ""),
                port=self.port,
                state=state(fields.get("LinkState", "")),
                physical_state=physical(fields.get("PhysLinkState", "")),
                width_supported=_width(fields.get("LinkWidthSupported", "")),
                width_enabled=_width(fields.get("LinkWidthEnabled", "")),
                width_active=_width(fields.get("LinkWidthActive", "")),
                lane_bytes_per_s_supported=speed["Supported"],
                lane_bytes_per_s_enabled=speed["Enabled"],
                lane_bytes_per_s_active=speed["Active"],
                host=self.source.host,
                evidence=self.where,
            ),
        )


def _width(text: str) -> int | None:
    widths = [integer(one) or 0 for one in _WIDTHS.findall(text)]
    return max(widths, default=None)


def _speed(fields: dict[str, str], which: str) -> float | None:
    """Return the best rate of the lists of plain and extended speeds."""
    lists = [fields.get(f"LinkSpeed{kind}{which}", "") for kind in ("", "Ext", "Ext2")]
    return max((one for text in lists for one in speeds(text)), default=None)


ibportstate = Parser(
    tool="ibportstate",
    marks=("# Port info:", "LinkWidthActive", "LinkSpeedExt", "LinkState:", "PortInfo:"),
    reader=_Reader,
    rank=30,
)
