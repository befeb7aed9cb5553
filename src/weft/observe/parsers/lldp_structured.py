"""``lldpctl -f json`` and ``-f keyvalue``: the neighbours of each interface, for programs."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from weft.observe.facts.base import Evidence, Fact
from weft.observe.facts.interfaces import Neighbour
from weft.observe.parser import READ, Parser, Source

_LINE = re.compile(
    r"lldp\.(?P<interface>[\w.-]{1,64}?)\.(?P<what>(?:via|rid|age|chassis|port|vlan|lldp-med|"
    r"ppvid|pi|unknown-tlvs)(?:\.[\w.-]{1,60})?)=(?P<value>.{0,300})"
)
_PORTS = ("port.local", "port.ifname", "port.mac")


@dataclass(slots=True)
class _Reader:
    """Gathers the lines of an interface."""

    source: Source
    interface: str = ""
    found: dict[str, str] = field(default_factory=dict)
    where: Evidence | None = None

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return the neighbour that a line completes."""
        line = _LINE.match(text.strip())
        if not line:
            return None
        done: Sequence[Fact] = READ
        if line["interface"] != self.interface or line["what"] == "via":
            done = tuple(self.end())
            self.interface = line["interface"]
        self.found[line["what"]] = line["value"]
        if line["what"] == "chassis.name":
            self.where = self.source.evidence(text, number)
        return done

    def end(self) -> Iterable[Fact]:
        """State the last neighbour."""
        found, self.found, where, self.where = self.found, {}, self.where, None
        if where is None:
            return ()
        port = next((found[name] for name in _PORTS if name in found), "")
        return (_neighbour(self.source, self.interface, found["chassis.name"], port, where),)


def _neighbour(
    source: Source, interface: str, system: str, port: str, evidence: Evidence
) -> Neighbour:
    return Neighbour(
        interface=interface, system=system, port=port, host=source.host, evidence=evidence
    )


def _document(value: object, source: Source, number: int) -> Iterable[Fact] | None:
    held = value.get("lldp") if isinstance(value, dict) else None
    if not isinstance(held, dict) or "interface" not in held:
        return None
    return list(_found(held["interface"], source, number))


def _found(held: object, source: Source, number: int) -> Iterator[Fact]:
    """Return the neighbours; one interface stands alone, several in a list."""
    for group in held if isinstance(held, list) else [held]:
        for interface, one in (group if isinstance(group, dict) else {}).items():
            if isinstance(one, dict):
                system, port = _system(one.get("chassis")), _port(one.get("port"))
                evidence = source.evidence(f"{interface}: {system} {port}", number)
                if system:
                    yield _neighbour(source, str(interface), system, port, evidence)


def _system(chassis: object) -> str:
    """Return the name: the key of the chassis, or a field where it has none."""
    if not isinstance(chassis, dict) or not chassis:
        return ""
    name = next(iter(chassis))
    return str(name) if isinstance(chassis[name], dict) and name != "id" else ""


def _port(port: Any) -> str:  # noqa: ANN401 - as JSON has it
    held = port.get("id") if isinstance(port, dict) else None
    return str(held.get("value", "")) if isinstance(held, dict) else ""


lldp_structured = Parser(
    tool="lldpctl for programs",
    marks=(".chassis.", ".via=LLDP"),
    reader=_Reader,
    document=_document,
    rank=35,
)
