"""``mlxfwmanager`` and ``mlxconfig``: an adapter's firmware, and how it is configured.

The same of ``mstfwmanager``, ``mstconfig`` and ``flint query``.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from weft.observe.facts.adapters import AdapterSeen
from weft.observe.facts.base import Fact
from weft.observe.facts.programs import Setting
from weft.observe.parser import READ, Parser, Source

_BEGINS = re.compile(r"Querying (?:Mellanox|NVIDIA) devices firmware|Device #\d{1,3}:\s*$")
_FIELD = re.compile(
    r"\s{0,4}(?P<name>Device [Tt]ype|Part Number|Name|Description|PSID|PCI Device Name|Device|"
    r"Base (?:GUID|MAC)|Orig PSID|Port \d (?:GUID|MAC)|FW Version|FW Release Date|"
    r"Product Version|Rom Info|Security Attributes|Image type|Status):\s+(?P<value>\S.*?)\s*$"
)
_TITLES = re.compile(
    r"\s{0,8}(?:Versions:\s+Current|Configurations:|-{4,}\s*$|(?:PXE|UEFI\S*)\s+\d|"
    r"Restart needed|No devices found)"
)
_FIRMWARE = re.compile(r"\s{2,8}FW\s+(?P<now>[\d.]{3,20})\s+(?P<new>\S{1,20})\s*$")
_CONFIGURED = re.compile(
    r"\*?\s{4,12}(?P<name>[A-Z][A-Z0-9_]{3,60})\s+(?P<values>\S{1,60}(?:\s+\S{1,60}){0,3})\s*$"
)
_GUID = "Base GUID"
_NAMES = frozenset({"PCI Device Name", "Device"})


@dataclass(slots=True)
class _Reader:
    """Reads the fields of one adapter after the other."""

    source: Source
    inside: bool = False
    configures: bool = False
    kind: str = ""
    bus: str = ""
    guid: str = ""

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return the facts of a line."""
        if _BEGINS.match(text):
            self.end()
            self.inside = True
            return READ
        if not self.inside:
            return None
        field = _FIELD.match(text)
        if field:
            return self._field(field["name"], field["value"], text, number)
        version = _FIRMWARE.match(text)
        if version:
            return (self._seen(version["now"], text, number),)
        if _TITLES.match(text):
            self.configures = self.configures or "Configurations:" in text
            return READ
        return self._configured(text, number) if self.configures else None

    def _configured(self, text: str, number: int) -> Sequence[Fact] | None:
        """Read a setting of the firmware."""
        set_to = _CONFIGURED.match(text)
        if not set_to:
            return None
        # Columns are default, current and next boot: what is in force stands before the last.
        values = set_to["values"].split()
        return (
            Setting(
                name=set_to["name"], value=values[-2] if values[1:] else values[0],
                origin="firmware", evidence=self.source.evidence(text, number),
            ),
        )  # fmt: skip

    def end(self) -> Iterable[Fact]:
        """Forget the adapter."""
        self.inside = self.configures = False
        self.kind = self.bus = self.guid = ""
        return READ

    def _field(self, name: str, value: str, text: str, number: int) -> Sequence[Fact]:
        if name.lower() == "device type":
            self.kind = value
        elif name in _NAMES:
            self.bus = value
        elif name == _GUID:
            self.guid = value.split(maxsplit=1)[0]
        elif name == "FW Version":
            return (self._seen(value.split(maxsplit=1)[0], text, number),)
        return READ

    def _seen(self, firmware: str, text: str, number: int) -> AdapterSeen:
        return AdapterSeen(
            adapter="", kind=self.kind, firmware=firmware, guid=self.guid, bus_id=self.bus,
            host=self.source.host, evidence=self.source.evidence(text, number),
        )  # fmt: skip


adapter_firmware = Parser(
    tool="mlxfwmanager, mlxconfig",
    marks=("Device #", "devices firmware", "Configurations:"),
    reader=_Reader,
    rank=43,
)
