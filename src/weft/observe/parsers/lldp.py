"""``lldpctl`` and ``lldpcli show neighbors``: who is at the other end of each cable."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from weft.observe.facts.base import Evidence, Fact
from weft.observe.facts.interfaces import Neighbour
from weft.observe.parser import READ, Parser, Source

_OPENS = re.compile(r"Interface:\s+(?P<name>[^,\s]+)")
_SYSTEM = re.compile(r"\s*SysName:\s+(?P<name>\S+)")
_PORT = re.compile(r"\s*PortID:\s+(?:\w+ )?(?P<name>\S+)")
_DETAIL = re.compile(
    r"\s*(?:ChassisID|SysDescr|MgmtIP|MgmtIface|Capability|PortDescr|TTL|PMD autoneg|"
    r"Adv|MAU oper|MFS|"
    r"VLAN|PPVID|PI|Chassis|Port|LLDP|LLDP neighbors|UnknownTLVs?|TLV):|LLDP neighbors"
)


@dataclass(slots=True)
class _Reader:
    """Gathers a neighbour until the next interface."""

    source: Source
    interface: str = ""
    found: dict[str, str] = field(default_factory=dict)
    where: Evidence | None = None

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return the neighbour that a line completes."""
        opens = _OPENS.match(text)
        if opens:
            done = tuple(self.end())
            self.interface = opens["name"]
            return done
        system = _SYSTEM.match(text)
        if system:
            done = () if self.interface and "system" not in self.found else tuple(self.end())
            self.found["system"], self.where = (
                system["name"],
                self.source.evidence(text, number),
            )
            return done or READ
        port = _PORT.match(text)
        if port:
            self.found["port"] = port["name"]
            return READ
        known = self.interface or self.found or text.startswith("LLDP")
        return READ if known and _DETAIL.match(text) else None

    def end(self) -> Iterable[Fact]:
        """State the last neighbour."""
        found, self.found = self.found, {}
        if "system" not in found or self.where is None:
            return ()
        return (
            Neighbour(
                interface=self.interface,
                system=found["system"],
                port=found.get("port", ""),
                host=self.source.host,
                evidence=self.where,
            ),
        )


lldp = Parser(
    tool="lldpctl", marks=("SysName:", "LLDP neighbors", "PortID:"), reader=_Reader, rank=35
)
