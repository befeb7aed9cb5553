"""``ethtool -m``: what the optical module of a port reports: heat, light, its own alarms."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from weft.observe.facts.adapters import ModuleReading
from weft.observe.facts.base import Fact
from weft.observe.parser import READ, Parser, Source
from weft.observe.parsers._values import real

_FIELD = re.compile(r"\s{0,8}(?P<name>[A-Z][\w /().,+-]{2,70}?)\s*: (?P<value>\S.{0,200}?)\s*$")
_INTERFACE = re.compile(
    r"ethtool (?:-m|--module-info|--dump-module-eeprom) (?P<name>[\w.-]{1,40})"
)
_LANE = re.compile(r"\((?:Channel|Lane) (?P<lane>\d{1,2})\)|[Cc]hannel (?P<plain>\d{1,2})")
_MILLI = 1e-3
_VALUES = (
    (re.compile(r"Module temperature$"), "temperature", 1.0),
    (re.compile(r"Module voltage$"), "voltage", 1.0),
    (
        re.compile(r"Laser (?:tx )?bias current\b(?!.*(?:alarm|warning|threshold))"),
        "bias",
        _MILLI,
    ),
    (
        re.compile(
            r"(?:Laser output power|Transmit avg optical power)\b(?!.*(?:alarm|warn|thresh))"
        ),
        "tx_power",
        _MILLI,
    ),
    (
        re.compile(
            r"(?:Receiver signal|Rcvr signal avg) .*power\b(?!.*(?:alarm|warning|threshold))"
        ),
        "rx_power",
        _MILLI,
    ),
)
_ALARMS = (
    (re.compile(r"Module temperature (?P<way>high|low) (?:alarm|warning)"), "temperature"),
    (re.compile(r"Module voltage (?P<way>high|low) (?:alarm|warning)"), "voltage"),
    (re.compile(r"Laser (?:tx )?bias current (?P<way>high|low) (?:alarm|warning)"), "bias"),
    (re.compile(r"Laser (?:output|tx) power (?P<way>high|low) (?:alarm|warning)"), "tx_power"),
    (re.compile(r"Laser rx power (?P<way>high|low) (?:alarm|warning)"), "rx_power"),
)


@dataclass(slots=True)
class _Reader:
    """Reads fields from the identifier of a module on."""

    source: Source
    inside: bool = False
    command: str = ""

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return the reading or alarm of a line."""
        found = _FIELD.match(text)
        if not found:
            return None
        name, value = found["name"], found["value"]
        if name == "Identifier" and value.startswith("0x"):
            self.inside = True
        if not self.inside:
            return None
        interface = _INTERFACE.search(self.source.command)
        where = interface["name"] if interface else ""
        lane = _LANE.search(name)
        place = int(lane["lane"] or lane["plain"]) if lane else None
        seen = ModuleReading(
            interface=where,
            name="",
            lane=place,
            host=self.source.host,
            evidence=self.source.evidence(text, number),
        )
        reading = next((one for one in _VALUES if one[0].match(name)), None)
        if reading:
            number_of = real(value)
            scaled = None if number_of is None else number_of * reading[2]
            return (replace(seen, name=reading[1], value=scaled),)
        for expression, what in _ALARMS:
            alarm = expression.match(name) if value == "On" else None
            if alarm:
                return (replace(seen, name=what, alarm=alarm["way"]),)
        return READ

    def end(self) -> Iterable[Fact]:
        """Forget the module."""
        self.inside = False
        return READ


ethtool_module = Parser(
    tool="ethtool -m",
    marks=("Identifier  ", "Module temperature", "Laser ", "Vendor PN", "optical power"),
    reader=_Reader,
    rank=34,
)
