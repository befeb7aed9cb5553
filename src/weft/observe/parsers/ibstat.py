"""``ibstat``: the adapters of a host and the state of their ports.

A port is stated when its block ends; values may be blank, and the one-port form
(``ibstat mlx5_0 1``) has no indentation. Ethernet ports show LID 0 and SM LID 0 always.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from weft.observe.facts.adapters import AdapterPort, AdapterSeen
from weft.observe.facts.base import Evidence, Fact, LinkLayer
from weft.observe.parser import READ, Parser, Source
from weft.observe.parsers._values import integer, layer, physical, rate, state

_ADAPTER = re.compile(r"\s*CA:? '(?P<name>[^']+)'")
_PORT = re.compile(r"\s*Port (?P<port>\d+):\s*$")
_FIELD = re.compile(
    r"\s*(?P<name>CA type|Number of ports|Firmware version|Hardware version|Node GUID|"
    r"System image GUID|State|Physical state|Rate|Base lid|LMC|SM lid|Capability mask|"
    r"Port GUID|Link layer)\s*:\s*(?P<value>.*?)\s*$"
)
_PANIC = re.compile(r"ibpanic: ")


@dataclass(slots=True)
class _Reader:
    """Gathers the fields of an adapter, then of each of its ports."""

    source: Source
    adapter: str = ""
    port: int | None = None
    fields: dict[str, str] = field(default_factory=dict)
    where: Evidence | None = None

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return the adapter or port that a line completes."""
        opens = _ADAPTER.match(text)
        if opens:
            done = tuple(self.end())
            self.adapter, self.where = opens["name"], self.source.evidence(text, number)
            return done
        port = _PORT.match(text)
        if port:
            done = tuple(self._done())
            self.port, self.where = int(port["port"]), self.source.evidence(text, number)
            return done
        found = _FIELD.match(text)
        if found and (
            self.adapter
            or self.port is not None
            or self.fields
            or found["name"] in {"CA type", "Physical state"}
            or (found["name"] == "State" and found["value"] in {"Initializing", "Armed"})
        ):
            if self.where is None:
                self.where = self.source.evidence(text, number)
            if found["name"] in {"State", "Physical state", "Rate"} and self.port is not None:
                self.where = self.source.evidence(text, number)
            self.fields[found["name"]] = found["value"]
            return READ
        return READ if _PANIC.match(text) else None

    def end(self) -> Iterable[Fact]:
        """State the last port."""
        done = self._done()
        self.adapter, self.port = "", None
        return done

    def _done(self) -> Sequence[Fact]:
        fields, self.fields = self.fields, {}
        where = self.where
        if not fields or where is None:
            return ()
        facts: tuple[Fact, ...] = ()
        if "CA type" in fields or "Firmware version" in fields:
            facts = (self._adapter(fields, where),)
        if fields.keys() & {"State", "Rate"}:
            facts = (*facts, self._port(fields, where))
        return facts

    def _adapter(self, fields: dict[str, str], where: Evidence) -> AdapterSeen:
        return AdapterSeen(
            adapter=self.adapter,
            kind=fields.get("CA type", ""),
            firmware=fields.get("Firmware version", ""),
            guid=fields.get("Node GUID", ""),
            ports=integer(fields.get("Number of ports")),
            host=self.source.host,
            evidence=where,
        )

    def _port(self, fields: dict[str, str], where: Evidence) -> AdapterPort:
        return AdapterPort(
            adapter=self.adapter,
            port=self.port,
            state=state(fields.get("State", "")),
            physical_state=physical(fields.get("Physical state", "")),
            link_layer=layer(fields["Link layer"])
            if "Link layer" in fields
            else LinkLayer.UNKNOWN,
            rate_bytes_per_s=rate(fields.get("Rate")),
            rate_text=fields.get("Rate", ""),
            lid=integer(fields.get("Base lid")),
            sm_lid=integer(fields.get("SM lid")),
            guid=fields.get("Port GUID", ""),
            host=self.source.host,
            evidence=where,
        )


ibstat = Parser(
    tool="ibstat",
    marks=(
        "CA '",
        "CA: '",
        "Physical state:",
        "Base lid:",
        "SM lid:",
        "CA type:",
        "Port GUID",
        "Link layer:",
        "ibpanic",
    ),
    reader=_Reader,
    rank=30,
)
