"""``opainfo``: the ports of Omni-Path adapters, their state, speed and width."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from weft import units
from weft.observe.facts.adapters import AdapterPort
from weft.observe.facts.base import Evidence, Fact
from weft.observe.parser import READ, Parser, Source
from weft.observe.parsers._values import integer, physical, state

_OPENS = re.compile(
    r"(?P<name>[a-z][\w-]{1,40}):(?P<port>\d{1,2})\s+Port(?:GUID|GID): ?0x[\da-fA-F:]+"
)
_STATE = re.compile(r"\s+PortState:\s+(?P<state>\w+)(?:\s+\((?P<phys>\w+)\))?")
_SPEED = re.compile(r"\s+LinkSpeed\s+Act: (?P<gbit>[\d.]+)Gb\b")
_WIDTH = re.compile(r"\s+LinkWidth\s+Act: (?P<lanes>\d+)\b")
_LID = re.compile(
    r"\s+LID: 0x(?P<lid>[\da-fA-F]+)-0x[\da-fA-F]+\s+SM LID: 0x(?P<sm>[\da-fA-F]+)"
)
_REST = re.compile(
    r"\s+(?:LinkWidthDnGrd|LinkSpeed|LCRC|QSFP|Xmit|Recv|"
    r"Link Quality|Integrity|Exc\.|Errors|Link |SM )"
)
_HEX = 16


@dataclass(slots=True)
class _Reader:
    """Gathers the fields of a port until the next begins."""

    source: Source
    fields: dict[str, str] = field(default_factory=dict)
    where: Evidence | None = None

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return the port that a line completes."""
        opens = _OPENS.match(text)
        if opens:
            done = tuple(self.end())
            self.where = self.source.evidence(text, number)
            self.fields = opens.groupdict()
            return done
        if self.where is None:
            return None
        for expression in (_STATE, _SPEED, _WIDTH, _LID):
            found = expression.match(text)
            if found:
                self.fields |= {key: value or "" for key, value in found.groupdict().items()}
                if expression is _STATE:
                    self.where = self.source.evidence(text, number)
                return READ
        return READ if _REST.match(text) else None

    def end(self) -> Iterable[Fact]:
        """State the last port."""
        fields, self.fields = self.fields, {}
        where, self.where = self.where, None
        if where is None or "state" not in fields:
            return ()
        return (
            AdapterPort(
                adapter=fields["name"],
                port=int(fields["port"]),
                state=state(fields["state"]),
                physical_state=physical(fields.get("phys", "")),
                rate_bytes_per_s=_rate(fields),
                lid=_number(fields.get("lid")),
                sm_lid=_number(fields.get("sm")),
                host=self.source.host,
                evidence=where,
            ),
        )


def _rate(fields: dict[str, str]) -> float | None:
    """Return the rate of all lanes together."""
    lanes = integer(fields.get("lanes"))
    if not lanes or "gbit" not in fields:
        return None
    return units.rate_from_gbit(float(fields["gbit"]) * lanes)


def _number(hexadecimal: str | None) -> int | None:
    return int(hexadecimal, _HEX) if hexadecimal else None


opainfo = Parser(
    tool="opainfo",
    marks=("PortState:", "PortGUID:", "PortGID:"),
    reader=_Reader,
    rank=29,
)
