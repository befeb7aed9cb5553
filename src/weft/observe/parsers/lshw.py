"""``lshw``: what runs each network interface, how fast it is and how fast it could be."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from weft.observe.facts.base import Evidence, Fact
from weft.observe.facts.interfaces import Interface
from weft.observe.facts.pci import PciAddress
from weft.observe.parser import READ, Parser, Source
from weft.observe.parsers._values import rate

_OPEN = re.compile(
    r"\s*\*-(?P<kind>[a-z]\w{0,20})(?::\d{1,3})?(?: (?:DISABLED|UNCLAIMED))?\s*$"
)
_FIELD = re.compile(
    r"\s+(?P<name>description|product|vendor|physical id|bus info|logical name|version|serial|"
    r"size|capacity|width|clock|capabilities|configuration|resources|slot): (?P<value>.{1,600})"
)
_SPEED = re.compile(r"(?P<number>\d{1,4})(?P<unit>[MG])bit/s")
_GIGABITS = {"M": 1e-3, "G": 1.0}
_PAIR = re.compile(r"\b(?P<name>driver|link|ip|speed)=(?P<value>\S{1,60})")


@dataclass(slots=True)
class _Reader:
    """Gathers the fields of a node of the tree; only network nodes say anything here."""

    source: Source
    kind: str = ""
    fields: dict[str, str] = field(default_factory=dict)
    where: Evidence | None = None

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return the facts of the node before, when one begins."""
        opened = _OPEN.match(text)
        if opened:
            done = tuple(self.end())
            self.kind, self.where = opened["kind"], self.source.evidence(text, number)
            return done
        found = _FIELD.match(text) if self.kind else None
        if not found:
            return None
        self.fields[found["name"]] = found["value"].strip()
        if found["name"] == "size":
            self.where = self.source.evidence(text, number)
        return READ

    def end(self) -> Iterable[Fact]:
        """State the interface gathered."""
        value, self.fields, kind, self.kind = self.fields, {}, self.kind, ""
        name = value.get("logical name", "")
        if kind != "network" or not name or self.where is None:
            return ()
        said = {one["name"]: one["value"]
                for one in _PAIR.finditer(value.get("configuration", ""))}  # fmt: skip
        interface = Interface(
            interface=name,
            carrier={"yes": True, "no": False}.get(said.get("link", "")),
            rate_bytes_per_s=_speed(value.get("size", "")),
            possible_bytes_per_s=_speed(value.get("capacity", "")),
            driver=said.get("driver", ""),
            addresses=(said["ip"],) if "ip" in said else (),
            host=self.source.host,
            evidence=self.where,
        )
        bus = value.get("bus info", "")
        if not bus.startswith("pci@"):
            return (interface,)
        return (
            interface,
            PciAddress(device=name, bus_id=bus[4:], host=self.source.host, evidence=self.where),
        )


def _speed(text: str) -> float | None:
    """Return a speed in bytes a second.

    >>> _speed("25Gbit/s"), _speed("unknown")
    (3125000000.0, None)
    """
    found = _SPEED.match(text)
    return rate(int(found["number"]) * _GIGABITS[found["unit"]]) if found else None


lshw = Parser(tool="lshw", marks=("*-network",), reader=_Reader, rank=43, longest=1024)
