"""``lspci`` (plain, ``-vv``, ``-t``): devices, trained links and access control of bridges."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from weft.observe.facts.base import Fact
from weft.observe.facts.pci import PciBridge, PciDevice, PcieAccessControl, PcieLink
from weft.observe.parser import READ, Parser, Source
from weft.observe.parsers._values import integer, real

_GIGA = 1e9
_DEVICE = re.compile(
    r"(?P<bus>(?:[0-9a-f]{4,5}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]) "
    r"(?P<kind>[A-Z0-9][\w /.()-]{2,60}?)"
    r"(?: \[[0-9a-f]{4}\])?: (?P<name>.*?)(?: \(rev (?P<rev>[0-9a-f]{2})\))?(?: \(prog-if .*)?$"
)
_CAPABLE = re.compile(r".*?LnkCap:.*?Speed (?P<speed>[\d.]+)GT/s,? Width x(?P<lanes>\d+)")
_TRAINED = re.compile(
    r".*?LnkSta:\s*Speed (?P<speed>[\d.]+)GT/s(?: \((?P<note>\w+)\))?,? Width x(?P<lanes>\d+)"
    r"(?: \((?P<narrow>\w+)\))?"
)
_ON_ITS_LINE = re.compile(
    r"\s{0,8}(?P<bus>(?:[0-9a-f]{4,5}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])[\s:]"
)
_IN_BRIEF = re.compile(
    r".*?LnkCap\W{1,4}x(?P<able>\d{1,2})\b.{0,40}?LnkSta\W{1,4}x(?P<lanes>\d{1,2})\b"
)
_CONTROL = re.compile(r"(?P<before>.{0,200}?)ACSCtl:(?P<flags>.*)")
_LABEL = re.compile(r"[A-Za-z0-9][\w .:/()#-]*")
_FLAG = re.compile(r"\b(\w{1,24})([+-])")
_DRIVER = re.compile(r"\s+Kernel driver in use: (?P<driver>\S+)")
_BELOW = re.compile(r"\s*Bus: primary=[0-9a-f]{2}, secondary=(?P<bus>[0-9a-f]{2})\b")
_DETAIL = re.compile(
    r"\s+(?:Subsystem|Control|Status|Latency|Interrupt|Region|Capabilities|DevCap|"
    r"DevCtl|DevSta|LnkCap2?|"
    r"LnkCtl\d?|LnkSta2?|ACSCap|Kernel|Bus|I/O|Memory|Prefetchable|Secondary|BridgeCtl"
    r"|NUMA node|IOMMU|"
    r"Flags|Expansion|Vector|Address|PBA|UESta|UEMsk|UESvrt|CESta|CEMsk|AERCap|"
    r"HeaderLog|Physical Slot|"
    r"AtomicOps\w*|VF|IOVC\w+|IOVSta|Initial|RootC\w+|RootSta|SltC\w+|SltSta|ExtTag|"
    r"MaxPayload|Product|"
    r"Vendor|DeviceName|Masking|Port Arb|VC\d|Arb|Caps|Ctrl|PASID\w*|T_\w+|10Bit\w*|"
    r"FRS|EmergencyPower|"
    r"Transmit|Compliance|Retimer|Equalization|ARICap|ARICtl|MRRS|.*MaxReadReq|TPHCap|"
    r".*UncorrErr)"
)
_SOUGHT = re.compile(r"-s\s+(?P<bus>[0-9a-fA-F:]+\.[0-7])")
_UNSAID = re.compile(r"\(all disabled\)")


@dataclass(slots=True)
class _Reader:
    """Reads devices and what is indented below them."""

    source: Source
    device: str = ""
    name: str = ""
    capable: tuple[float, int] | None = None

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return the facts of a line."""
        if "grep" in text:
            return None
        device = _DEVICE.match(text)
        if device:
            return self._device(device, text, number)
        if "ACSCtl:" in text:
            control = _CONTROL.match(text)
            return self._control(control, text, number) if control else None
        if "LnkSta" in text or "LnkCap:" in text:
            brief = _IN_BRIEF.match(text)
            return (self._brief(brief, text, number),) if brief else self._link(text, number)
        return self._below(text, number) if self.device else None

    def end(self) -> Iterable[Fact]:
        """Keep nothing to the end."""
        return READ

    def _below(self, text: str, number: int) -> Sequence[Fact] | None:
        """Read what stands below the name of a device."""
        below = _BELOW.match(text)
        if below:
            return (
                PciBridge(
                    bus_id=self.device, below=below["bus"], host=self.source.host,
                    evidence=self.source.evidence(text, number),
                ),
            )  # fmt: skip
        return READ if _DRIVER.match(text) or _DETAIL.match(text) else None

    def _device(self, found: "re.Match[str]", text: str, number: int) -> Sequence[Fact]:
        self.device, self.name, self.capable = found["bus"], found["name"], None
        return (
            PciDevice(
                bus_id=found["bus"],
                kind=found["kind"],
                name=found["name"],
                revision=found["rev"] or "",
                gone=found["rev"] == "ff",
                host=self.source.host,
                evidence=self.source.evidence(text, number),
            ),
        )

    def _link(self, text: str, number: int) -> Sequence[Fact]:
        able, found = _CAPABLE.match(text), _TRAINED.match(text)
        if able:
            self.capable = (float(able["speed"]) * _GIGA, int(able["lanes"]))
        if not found:
            return READ
        speed = real(found["speed"])
        own = _ON_ITS_LINE.match(text)
        sought = own or _SOUGHT.search(self.source.command)
        if own and own["bus"] != self.device:  # what is known of another device is not its
            self.device, self.name = "", ""
        capable, self.capable = self.capable, None
        return (
            PcieLink(
                device=self.device or (sought["bus"] if sought else ""),
                name=self.name,
                lanes=integer(found["lanes"]),
                transfers_per_s=None if speed is None else speed * _GIGA,
                max_lanes=capable[1] if capable else None,
                max_transfers_per_s=capable[0] if capable else None,
                downgraded="downgraded" in (found["note"] or "", found["narrow"] or ""),
                host=self.source.host,
                evidence=self.source.evidence(text, number),
            ),
        )

    def _brief(self, found: "re.Match[str]", text: str, number: int) -> PcieLink:
        """Read what somebody noted of a link: its lanes, as it could and as it is."""
        lanes, able = int(found["lanes"]), int(found["able"])
        return PcieLink(
            device=self.device, lanes=lanes, max_lanes=able, downgraded=lanes < able,
            host=self.source.host, evidence=self.source.evidence(text, number),
        )  # fmt: skip

    def _control(self, found: "re.Match[str]", text: str, number: int) -> Sequence[Fact]:
        flags = {name: sign == "+" for name, sign in _FLAG.findall(found["flags"])}
        off = False if _UNSAID.search(text) else None
        return (
            PcieAccessControl(
                device=_label(found["before"]) or self.device,
                name=self.name,
                source_validation=flags.get("SrcValid", off),
                request_redirect=flags.get("ReqRedir", off),
                completion_redirect=flags.get("CmpltRedir", off),
                upstream_forwarding=flags.get("UpstreamFwd", off),
                host=self.source.host,
                evidence=self.source.evidence(text, number),
            ),
        )


def _label(before: str) -> str:
    """Return the device that stands before the flags; quotes of a document are none."""
    text = before.replace("\\t", " ").strip(" \t:#\"'")
    return text if _LABEL.fullmatch(text) else ""


lspci = Parser(
    tool="lspci",
    marks=(
        "LnkSta:",
        "LnkCap:",
        "LnkSta",
        "ACSCtl:",
        " controller: ",
        " controller [",
        "PCI bridge",
        "accelerators",
        "(rev ",
        "Kernel driver in use",
    ),
    reader=_Reader,
    rank=30,
)
