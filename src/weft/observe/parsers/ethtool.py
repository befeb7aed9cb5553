"""``ethtool``: settings, driver and counters (``-S``) of an interface."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from weft.observe.facts.base import Evidence, Fact
from weft.observe.facts.interfaces import Counter, Interface
from weft.observe.facts.pci import PciAddress
from weft.observe.facts.service_quality import PauseSetting
from weft.observe.parser import READ, Parser, Source
from weft.observe.parsers._values import rate, yes

_NAMED = re.compile(r"ethtool[ _](?:--?[\w-]+[ _])*(?P<name>[a-z][\w.@-]*)\s*(?:[|;\"']|$)")
_SETTINGS = re.compile(r"Settings for (?P<name>[\w.@-]+):")
_STATISTICS = re.compile(
    r"NIC statistics:|(?:FEC|Standard|Ring|Channel|Coalesce|Pause|Features) "
    r"(?:statistics|parameters|for)"
)
_PAUSE = re.compile(r"Pause parameters for (?P<name>[\w.@-]+):")
_FEC = re.compile(r"FEC parameters for (?P<name>[\w.@-]+):")
_COUNTER = re.compile(
    r"\s*(?:\[\d+\]: ?)?(?P<name>[a-z][a-z0-9_.]{2,80}(?:\[\d+\])?): (?P<value>\d+)\s*$"
)
_FIELD = re.compile(
    r"\s*(?P<name>[A-Z][\w /.-]{1,40}|driver|version|firmware-version|bus-info|RX|TX|"
    r"expansion-rom-version|supports-[\w-]+):(?!\d\d:)\s*(?P<value>.*?)\s*$"
)
_ASKED = re.compile(r"\bethtool (?P<name>[a-z][\w.@-]*)\s*(?:\||$)")
_OF_SETTINGS = re.compile(
    r"\s*(?:Speed|Duplex|Auto-negotiation|Port|PHYAD|Transceiver|Link detected|Lanes|"
    r"Supports Wake-on|Wake-on):\s"
)
_SPEED = re.compile(r"(\d+)\s*Mb/s")
_MEGABIT = 1e-3
_MODES = re.compile(
    r"\s+\d+base\S+(?:\s+\d+base\S+)*(?:/\w+)?(?: \w+/\w+)?\s*$|\s+(?:None|RS|BASER|"
    r"LLRS|LL_RS|Not reported)\s*$"
)
_MODE = re.compile(r"\b(\d{2,7})base")
_DRIVEN = {"driver", "version", "firmware-version", "bus-info"}


@dataclass(slots=True)
class _Reader:
    """Reads counters as they come and gathers the settings of an interface."""

    source: Source
    interface: str = ""
    inside: str = ""
    fields: dict[str, str] = field(default_factory=dict)
    where: Evidence | None = None
    command: str = ""
    modes: list[int] = field(default_factory=list)
    listing: bool = False

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return the facts of a line."""
        counter = _COUNTER.match(text)
        if counter:
            return self._counter(counter, text, number)
        for expression, inside in ((_SETTINGS, "settings"), (_PAUSE, "pause"), (_FEC, "fec")):
            opens = expression.match(text)
            if opens:
                done = tuple(self.end())
                self.interface, self.inside = opens["name"], inside
                self.where = self.source.evidence(text, number)
                return done
        if _STATISTICS.match(text):
            done = tuple(self.end())
            self.inside = "statistics"
            return done
        found = _FIELD.match(text) if self.inside or text.startswith("driver: ") else None
        if found is None and not self.inside:
            found = self._cut(text)
        if found:
            return self._gather(found, text, number)
        if not self.inside or not _MODES.match(text):
            return None
        if self.listing:
            self.modes += map(int, _MODE.findall(text))
        return READ

    def end(self) -> Iterable[Fact]:
        """State the settings gathered."""
        fields, self.fields = self.fields, {}
        modes, self.modes, self.listing = self.modes, [], False
        where, self.where, inside, self.inside = self.where, None, self.inside, ""
        if where is None or not fields:
            return ()
        if inside == "pause":
            return (self._pause(fields, where),)
        return self._settings(fields, max(modes, default=0), where)

    def _counter(self, found: "re.Match[str]", text: str, number: int) -> Sequence[Fact]:
        self._follow()
        return (
            Counter(
                where=self.interface,
                name=found["name"],
                value=int(found["value"]),
                host=self.source.host,
                evidence=self.source.evidence(text, number),
            ),
        )

    def _cut(self, text: str) -> "re.Match[str] | None":
        """Return a setting whose heading was cut off, of the interface that was asked for."""
        asked = _ASKED.search(self.source.command)
        found = _OF_SETTINGS.match(text) if asked else None
        if asked is None or found is None:
            return None
        self.interface, self.inside = asked["name"], "settings"
        return _FIELD.match(text)

    def _follow(self) -> None:
        """Take the interface from the command or file when it names one."""
        if self.source.command != self.command:
            self.command = self.source.command
            named = _NAMED.search(self.command)
            self.interface = named["name"] if named else self.interface

    def _gather(self, found: "re.Match[str]", text: str, number: int) -> Sequence[Fact]:
        if found["name"] == "driver":
            done = tuple(self.end())
            self._follow()
            self.inside, self.where = "driver", self.source.evidence(text, number)
            self.fields["driver"] = found["value"]
            return done
        if found["name"] in {"Speed", "Link detected", "RX", "Active FEC encoding"}:
            self.where = self.source.evidence(text, number)
        self.fields[found["name"]] = found["value"]
        self.listing = found["name"] == "Supported link modes"
        if self.listing:
            self.modes += map(int, _MODE.findall(found["value"]))
        return READ

    def _pause(self, fields: dict[str, str], where: Evidence) -> PauseSetting:
        return PauseSetting(
            interface=self.interface,
            global_receive=yes(fields.get("RX")),
            global_send=yes(fields.get("TX")),
            host=self.source.host,
            evidence=where,
        )

    def _settings(
        self, fields: dict[str, str], fastest: int, where: Evidence
    ) -> Sequence[Fact]:
        speed = _SPEED.match(fields.get("Speed", ""))
        interface = Interface(
            interface=self.interface,
            carrier=yes(fields.get("Link detected")),
            rate_bytes_per_s=rate(int(speed[1]) * _MEGABIT) if speed else None,
            possible_bytes_per_s=rate(fastest * _MEGABIT) if fastest else None,
            fec=fields.get("Active FEC encoding", ""),
            driver=fields.get("driver", ""),
            host=self.source.host,
            evidence=where,
        )
        if ":" not in fields.get("bus-info", ""):
            return (interface,)
        address = PciAddress(
            device=self.interface,
            bus_id=fields["bus-info"],
            host=self.source.host,
            evidence=where,
        )
        return (interface, address)


ethtool = Parser(
    tool="ethtool",
    marks=(
        "NIC statistics",
        "Settings for ",
        "Link detected",
        "Speed: ",
        "rx_",
        "tx_",
        "driver: ",
        "Pause parameters",
        "FEC parameters",
        "_phy",
        "_errors",
        "np_",
        "rp_",
        "out_of_sequence",
        "req_",
        "resp_",
        "_err:",
    ),
    reader=_Reader,
    rank=42,
)
