"""``mlxlink``: one port's link as the adapter's firmware sees it, with its advice."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from weft.observe.facts.adapters import AdapterPort, LinkTraining, ModuleReading
from weft.observe.facts.base import Evidence, Fact, LinkLayer, PhysicalState, PortState
from weft.observe.facts.interfaces import Counter
from weft.observe.facts.pci import PcieLink
from weft.observe.facts.programs import Message
from weft.observe.parser import READ, Parser, Source
from weft.observe.parsers._values import integer, lane_rate

_FIELD = re.compile(r"\s{0,8}(?P<name>[A-Z][\w /\[\]().%-]{2,40}?)\s*: ?(?P<value>.*?)\s*$")
_NAMES = frozenset(
    {
        "State", "Physical state", "Speed", "Width", "FEC", "Loopback Mode", "Auto Negotiation",
        "Enabled Link Speed", "Enabled Link Speed (Ext.)", "Supported Cable Speed",
        "Supported Cable Speed (Ext.)", "Status Opcode", "Group Opcode", "Recommendation",
        "Link Down Counter", "Link Error Recovery Counter", "Effective Physical Errors",
        "Effective Physical BER", "Raw Physical BER", "Symbol Errors", "Symbol BER",
        "Time Since Last Clear [Min]", "Identifier", "Compliance", "Cable Technology",
        "Cable Type", "OUI", "Vendor Name", "Vendor Part Number", "Vendor Serial Number", "Rev",
        "Wavelength [nm]", "Transfer Distance [m]", "Attenuation (5g,7g,12g,25g) [dB]",
        "FW Version", "Digital Diagnostic Monitoring", "Power Class", "CDR RX", "CDR TX",
        "LOS Alarm", "IB Cable Width", "Memory Map Revision", "Cable Breakout", "Active set",
    }
)  # fmt: skip
_HEAD = re.compile(
    r"\s*(?:Operational Info|Supported Info|Troubleshooting Info|Tool Information|"
    r"Physical Counters and BER Info|Module Info|Firmware Version|amBER Version|MFT Version)"
)
_DEVICE = re.compile(r"mlxlink\b.{0,80}?-d\s+(?P<device>\S+)")
_SPEEDS = re.compile(r"\b(SDR|DDR|QDR|FDR10|FDR|EDR|HDR|NDR|XDR)\b")
_LANES = re.compile(r"(\d{1,2})x", re.IGNORECASE)
_USUAL_LANES = 4
_GIGA = 1e9
_PCIE_HEAD = re.compile(r"\s*PCIe Operational \(Enabled\) Info")
_PCIE = re.compile(
    r"\s*Link (?P<what>Speed|Width) Active \(Enabled\)\s*: (?P<now>[\d.]+)(?:G-Gen \d|X) "
    r"\((?P<most>[\d.]+)(?:G-Gen \d|X)\)"
)
_PCIE_DETAIL = re.compile(r"\s*(?:Depth, pcie index, node|Device Status)\s*: ")
_COUNTERS = {
    "Link Down Counter": "link_downed",
    "Link Error Recovery Counter": "link_error_recovery",
    "Effective Physical Errors": "effective_physical_errors",
    "Symbol Errors": "symbol_error",
}
_LEVEL = re.compile(
    r"\s{0,8}(?P<name>Temperature \[C\]|Voltage \[mV\]|Bias Current \[mA\]|"
    r"[RT]x Power Current \[dBm\])\s*: (?P<values>-?[\d.]+(?:,-?[\d.]+){0,15}) "
    r"\[(?P<low>-?[\d.]+)\.\.(?P<high>-?[\d.]+)\]\s*$"
)
_MILLI = 1e-3
_LEVELS: dict[str, tuple[str, Callable[[float], float]]] = {
    "Temperature [C]": ("temperature", float),
    "Voltage [mV]": ("voltage", lambda milli: milli * _MILLI),
    "Bias Current [mA]": ("bias", lambda milli: milli * _MILLI),
    "Rx Power Current [dBm]": ("rx_power", lambda dbm: 10 ** (dbm / 10) * _MILLI),
    "Tx Power Current [dBm]": ("tx_power", lambda dbm: 10 ** (dbm / 10) * _MILLI),
}
_WELL = ("no issue was observed", "n/a", "")


@dataclass(slots=True)
class _Reader:
    """Gathers the fields of a port until another begins."""

    source: Source
    fields: dict[str, str] = field(default_factory=dict)
    where: Evidence | None = None
    inside: bool = False

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return the facts that a line completes."""
        if _HEAD.match(text):
            begins = "Operational Info" in text and bool(self.fields)
            done = tuple(self.end()) if begins else READ
            self.inside = True
            return done
        pcie = self._pcie(text, number)
        if pcie is not None:
            return pcie
        level = _LEVEL.match(text)
        if level:
            return tuple(self._levels(level, self.source.evidence(text, number)))
        found = _FIELD.match(text) if self.inside or self._asked() else None
        if not found or found["name"] not in _NAMES:
            return READ if self.inside and re.match(r"\s*-{4,}\s*$", text) else None
        self.inside = True
        evidence = self.source.evidence(text, number)
        if self.where is None or found["name"] in {"State", "Width"}:
            self.where = evidence
        self.fields[found["name"]] = found["value"]
        return tuple(self._stated(found["name"], found["value"], evidence))

    def end(self) -> Iterable[Fact]:
        """State the port."""
        value, where = self.fields, self.where
        self.fields, self.where, self.inside = {}, None, False
        return () if where is None else tuple(self._port(value, where))

    def _pcie(self, text: str, number: int) -> Sequence[Fact] | None:
        """Read the adapter's PCI Express link: as trained, and in brackets as allowed."""
        if _PCIE_HEAD.match(text):
            self.inside = True
            return READ
        found = _PCIE.match(text)
        if not found:
            return READ if _PCIE_DETAIL.match(text) else None
        now, most = float(found["now"]), float(found["most"])
        lanes = found["what"] == "Width"
        return (
            PcieLink(
                device=self._device() or "adapter",
                name="network adapter",
                lanes=int(now) if lanes else None,
                max_lanes=int(most) if lanes else None,
                transfers_per_s=None if lanes else now * _GIGA,
                max_transfers_per_s=None if lanes else most * _GIGA,
                host=self.source.host,
                evidence=self.source.evidence(text, number),
            ),
        )

    def _levels(self, found: "re.Match[str]", evidence: Evidence) -> Iterable[ModuleReading]:
        """State what a module reports of each lane, and whether that is within its limits."""
        name, scaled = _LEVELS[found["name"]]
        values = [float(one) for one in found["values"].split(",")]
        low, high = float(found["low"]), float(found["high"])
        for lane, value in enumerate(values, start=1):
            yield ModuleReading(
                interface=self._device(),
                name=name,
                value=scaled(value),
                lane=lane if len(values) > 1 else None,
                alarm="low" if value < low else "high" if value > high else "",
                host=self.source.host,
                evidence=evidence,
            )

    def _asked(self) -> bool:
        return "mlxlink" in self.source.command

    def _device(self) -> str:
        asked = _DEVICE.search(self.source.command)
        return asked["device"] if asked else ""

    def _stated(self, name: str, value: str, evidence: Evidence) -> Iterable[Fact]:
        count = integer(value) if name in _COUNTERS else None
        if count is not None:
            yield Counter(where=self._device(), name=_COUNTERS[name], value=count,
                          host=self.source.host, evidence=evidence)  # fmt: skip
        if name == "Recommendation" and value.lower().rstrip(".") not in _WELL:
            yield Message(software="mlxlink", level="warning", text=value, evidence=evidence)

    def _port(self, value: dict[str, str], where: Evidence) -> Iterable[Fact]:
        if "State" not in value:
            return
        up = "active" in value["State"].lower()
        speed = value.get("Speed", "")
        infiniband = speed.startswith("IB")
        yield AdapterPort(
            adapter=self._device(),
            state=PortState.ACTIVE if up else PortState.DOWN,
            physical_state=PhysicalState.LINK_UP if up else _physical(value["State"]),
            link_layer=LinkLayer.INFINIBAND if infiniband else LinkLayer.UNKNOWN,
            host=self.source.host,
            evidence=where,
        )
        if up and infiniband:
            yield self._training(value, speed, where)

    def _training(self, value: dict[str, str], speed: str, where: Evidence) -> LinkTraining:
        lanes = _LANES.search(value.get("Width", ""))
        active = _SPEEDS.search(speed)
        enabled = _best(value, "Enabled Link Speed")
        cable = _best(value, "Supported Cable Speed")
        known = [one for one in (enabled, cable) if one is not None]
        return LinkTraining(
            where=self._device(),
            state=PortState.ACTIVE,
            width_supported=_USUAL_LANES,
            width_active=int(lanes[1]) if lanes else None,
            lane_bytes_per_s_active=lane_rate(active[1]) if active else None,
            lane_bytes_per_s_enabled=enabled,
            lane_bytes_per_s_supported=min(known, default=None),
            host=self.source.host,
            evidence=where,
        )


def _best(value: dict[str, str], name: str) -> float | None:
    """Return the fastest lane that a list of speeds names."""
    text = value.get(name, "") + value.get(f"{name} (Ext.)", "")
    rates = [lane_rate(one) or 0.0 for one in _SPEEDS.findall(text)]
    return max(rates, default=None)


def _physical(state: str) -> PhysicalState:
    low = state.lower()
    return PhysicalState.DISABLED if "disable" in low else PhysicalState.POLLING


def _document(value: object, source: Source, number: int) -> Iterable[Fact] | None:
    """Read ``mlxlink --json``: the sections and fields are those of the text."""
    output = value.get("result") if isinstance(value, dict) else None
    output = output.get("output") if isinstance(output, dict) else None
    if not isinstance(output, dict) or "Operational Info" not in output:
        return None
    reader = _Reader(source)
    facts: list[Fact] = []
    for section, fields in output.items():
        facts += reader.take(str(section), number) or ()
        for name, told in fields.items() if isinstance(fields, dict) else ():
            plain = told.get("values", "") if isinstance(told, dict) else told
            text = ", ".join(map(str, plain)) if isinstance(plain, list) else plain
            facts += reader.take(f"{name} : {text}", number) or ()
    return [*facts, *reader.end()]


mlxlink = Parser(
    tool="mlxlink",
    marks=(
        "Operational Info",
        "PCIe Operational",
        "Supported Info",
        "Troubleshooting Info",
        "BER Info",
        "mlxlink",
    ),
    reader=_Reader,
    document=_document,
    rank=24,
)
