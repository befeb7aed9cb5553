"""``nvidia-smi -q``: what each GPU reports, under nested headings."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from weft.observe.facts.base import Evidence, Fact
from weft.observe.facts.gpus import (
    GpuFault,
    GpuReading,
    GpuSeen,
    GpuThrottle,
    RemappedRows,
    ScaleUpFabricState,
)
from weft.observe.facts.pci import PcieLink
from weft.observe.facts.programs import Message, SoftwareVersion
from weft.observe.parser import READ, Parser, Source
from weft.observe.parsers._values import integer, real, size, yes

_GPU = re.compile(r"GPU (?P<bus>[0-9A-Fa-f]{8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.\d)(?!:)")
_TITLE = re.compile(r"={4,}NVSMI LOG={4,}")
_FIELD = re.compile(
    r"(?P<indent> {0,24})(?P<name>[A-Z][\w .()/-]{0,60}?)\s{2,}: ?(?P<value>.*?)\s*$"
)
_SHORT = re.compile(
    r"(?P<indent> {0,24})(?P<name>[A-Z][\w .()/-]{0,60}?)\s*: (?P<value>.*?)\s*$"
)
_SQUEEZED = re.compile(
    r"[A-Z][\w ]{1,40} ?: (?:Active|Not Active|\d{1,6}(?:\.\d{1,3})? (?:MHz|C|W|%|MiB))\s*$"
)
"""Fields whose gaps were lost with the indents."""
_HEADING = re.compile(r"(?P<indent> {3,24})(?P<name>[A-Z][\w .()/-]{2,60}?)\s*$")
_BLOCK = re.compile(
    r"\s*(?P<title>Clocks Throttle Reasons|Clocks Event Reasons|Remapped Rows|"
    r"GPU Link Info|(?<= {3})(?:Fabric|ECC Errors))\s*$"
)
_REASONS = frozenset(
    {"SW Thermal Slowdown", "HW Thermal Slowdown", "HW Slowdown", "HW Power Brake Slowdown"}
)
"""Reasons that need no heading above: their lines are picked out of the rest."""
_BITS = re.compile(r"\s{2,}\(bitmask 0x[0-9a-fA-F]{1,16}\)$")
_ARROW = re.compile(r"\s{2,}<[=-]+.*$")
_MEGA = 1e6
_GENERATION_GT = {1: 2.5, 2: 5.0, 3: 8.0, 4: 16.0, 5: 32.0, 6: 64.0}
_GIGA = 1e9
_POORLY = re.compile(
    r"Health/(?:Bandwidth: Degraded|(?:Route|Access|Incorrect).*: (?:True|Yes)|"
    r"Summary: (?:Unhealthy|Limited))"
)
_RECOVERY = 154
"""The driver's code of a changed recovery action [NVIDIA Xid errors]."""
_TOP = {"Driver Version": "NVIDIA driver", "CUDA Version": "CUDA"}
_READINGS: dict[str, tuple[str, str, Callable[[str], float | None]]] = {
    "Clocks/SM": ("sm_clock", "Hz", lambda text: _scaled(text, _MEGA)),
    "Clocks/Memory": ("memory_clock", "Hz", lambda text: _scaled(text, _MEGA)),
    "Max Clocks/SM": ("sm_clock_max", "Hz", lambda text: _scaled(text, _MEGA)),
    "Temperature/GPU Current Temp": ("temperature", "°C", real),
    "Temperature/GPU Slowdown Temp": ("temperature_slowdown", "°C", real),
    "Utilization/Gpu": ("utilisation", "ratio", lambda text: _scaled(text, 0.01)),
    "FB Memory Usage/Used": ("memory_used", "B", size),
    "FB Memory Usage/Total": ("memory_total", "B", size),
    "BAR1 Memory Usage/Total": ("bar1_total", "B", size),
}
_ENDINGS = (
    ("/Power Draw", "power_draw", "W"),
    ("/Average Power Draw", "power_draw", "W"),
    ("/Instantaneous Power Draw", "power_draw", "W"),
    ("/Current Power Limit", "power_limit", "W"),
    ("/Power Limit", "power_limit", "W"),
    ("/Default Power Limit", "power_limit_default", "W"),
    ("Aggregate/DRAM Uncorrectable", "ecc_uncorrectable", ""),
    ("Aggregate/SRAM Uncorrectable", "ecc_uncorrectable_sram", ""),
    ("Volatile/DRAM Uncorrectable", "ecc_uncorrectable_volatile", ""),
    ("Volatile/SRAM Uncorrectable", "ecc_uncorrectable_sram_volatile", ""),
    ("Volatile/SRAM Uncorrectable Parity", "ecc_uncorrectable_sram_volatile", ""),
    ("Volatile/SRAM Uncorrectable SEC-DED", "ecc_uncorrectable_sram_volatile", ""),
    ("Aggregate/DRAM Correctable", "ecc_correctable", ""),
    ("/Replays Since Reset", "pcie_replays", ""),
)


def _scaled(text: str, scale: float) -> float | None:
    value = real(text)
    return None if value is None else value * scale


@dataclass(slots=True)
class _Reader:
    """Keeps the path of headings; some blocks are stated when the next GPU begins."""

    source: Source
    gpu: str = ""
    path: list[tuple[int, str]] = field(default_factory=list)
    rows: dict[str, str] = field(default_factory=dict)
    rows_at: Evidence | None = None
    link: dict[str, str] = field(default_factory=dict)
    link_at: Evidence | None = None
    inside: bool = False

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return the facts of a line."""
        if _TITLE.match(text):
            self.inside = True
            return READ
        gpu = _GPU.match(text)
        if gpu:
            done = tuple(self.end())
            self.inside, self.gpu, self.path = True, gpu["bus"].lower(), []
            seen = GpuSeen(
                bus_id=self.gpu,
                host=self.source.host,
                evidence=self.source.evidence(text, number),
            )
            return (*done, seen)
        if not self.inside:
            return self._outside(text, number)
        found = _FIELD.match(text) or (
            _SHORT.match(text) if text.startswith("  ") or _SQUEEZED.match(text) else None
        )
        if found:
            return self._field(found, text, number)
        heading = _HEADING.match(text)
        if not heading:
            return None
        self._descend(len(heading["indent"]), heading["name"])
        return READ

    def end(self) -> Iterable[Fact]:
        """State the blocks gathered for a GPU."""
        facts = [*self._rows(), *self._link()]
        self.rows, self.link, self.gpu = {}, {}, ""
        return facts

    def _outside(self, text: str, number: int) -> Sequence[Fact] | None:
        """Read blocks that were pasted without their beginning."""
        begun = _BLOCK.match(text)
        if begun:
            self.inside = True
            self._descend(len(text) - len(text.lstrip()), begun["title"])
            return READ
        del number
        return None

    def _descend(self, indent: int, name: str) -> None:
        while self.path and self.path[-1][0] >= indent:
            self.path.pop()
        self.path.append((indent, name))

    def _field(self, found: "re.Match[str]", text: str, number: int) -> Sequence[Fact]:
        indent, name = len(found["indent"]), found["name"].strip()
        if not indent and self.path:
            indent = self.path[-1][0] + 1  # a text that lost its indents
        while self.path and self.path[-1][0] >= indent:
            self.path.pop()
        path = "/".join([*(part for _, part in self.path), name])
        value = _BITS.sub("", _ARROW.sub("", found["value"]))
        evidence = self.source.evidence(text, number)
        if ("Reasons/" in path or name in _REASONS) and "Counters" not in path:
            return self._reason(name, value, evidence)
        if "Remapped Rows/" in path:
            self.rows[name], self.rows_at = value, evidence
            return READ
        if "GPU Link Info/" in path:
            self.link["/".join(path.split("/")[-2:])] = value
            self.link_at = evidence
            return READ
        return self._reading(path, value, evidence)

    def _reason(self, name: str, value: str, evidence: Evidence) -> Sequence[Fact]:
        if yes(value) is None:
            return READ
        return (
            GpuThrottle(
                gpu=self.gpu,
                reason=name.lower().replace(" ", "_"),
                active=value == "Active",
                host=self.source.host,
                evidence=evidence,
            ),
        )

    def _reading(self, path: str, value: str, evidence: Evidence) -> Sequence[Fact]:
        if path in _TOP:
            return (SoftwareVersion(software=_TOP[path], version=value, evidence=evidence),)
        if path == "Product Name":
            return (
                GpuSeen(name=value, bus_id=self.gpu, host=self.source.host, evidence=evidence),
            )
        if path.startswith("Retired Pages/Pending"):
            self.rows["Pending"], self.rows_at = value, evidence
            return READ
        if path.startswith("Fabric/"):
            return self._fabric(path, value, evidence)
        return self._number(path, value, evidence)

    def _recover(self, value: str, evidence: Evidence) -> Sequence[Fact]:
        """State what a GPU needs before it may be used again."""
        if value.lower() in {"none", "n/a", ""}:
            return READ
        return (
            GpuFault(
                code=_RECOVERY, bus_id=self.gpu, text=f"GPU recovery action {value}",
                host=self.source.host, evidence=evidence,
            ),
        )  # fmt: skip

    def _number(self, path: str, value: str, evidence: Evidence) -> Sequence[Fact]:
        if path == "GPU Recovery Action":
            return self._recover(value, evidence)
        if "Unknown Error" in value:
            return (self._value(path.lower(), None, "", value, evidence),)
        known = _READINGS.get(path)
        if known:
            return (self._value(known[0], known[2](value), known[1], value, evidence),)
        ending = next((e for e in _ENDINGS if path.endswith(e[0])), None)
        if ending and real(value) is not None:
            return (self._value(ending[1], real(value), ending[2], value, evidence),)
        return READ

    def _value(
        self, name: str, value: float | None, unit: str, text: str, evidence: Evidence
    ) -> GpuReading:
        host = self.source.host
        return GpuReading(
            gpu=self.gpu,
            name=name,
            value=value,
            unit=unit,
            text=text,
            host=host,
            evidence=evidence,
        )

    def _fabric(self, path: str, value: str, evidence: Evidence) -> Sequence[Fact]:
        name = path.partition("/")[2]
        if name.startswith("Health/") and _POORLY.match(f"{name}: {value}"):
            return (
                Message(
                    software="GPU driver", level="error",
                    text=f"fabric health: {name.partition('/')[2]} {value}", evidence=evidence,
                ),
            )  # fmt: skip
        if name not in {"State", "Status"} or value == "N/A":
            return READ
        state = value if name == "State" else ""
        status = value if name == "Status" else ""
        return (
            ScaleUpFabricState(state=state, status=status, gpu=self.gpu, evidence=evidence),
        )

    def _rows(self) -> Iterable[Fact]:
        if self.rows_at is None or not self.rows.keys() & {"Pending", "Uncorrectable Error"}:
            return
        yield RemappedRows(
            gpu=self.gpu,
            correctable=integer(self.rows.get("Correctable Error")),
            uncorrectable=integer(self.rows.get("Uncorrectable Error")),
            pending=yes(self.rows.get("Pending")),
            failed=yes(self.rows.get("Remapping Failure Occurred")),
            host=self.source.host,
            evidence=self.rows_at,
        )

    def _link(self) -> Iterable[Fact]:
        """State the PCI Express link; an idle GPU lowers its own speed, not its width."""
        value = self.link
        if self.link_at is None or not value:
            return
        lanes = integer((value.get("Link Width/Current") or "").rstrip("x"))
        most = integer((value.get("Link Width/Max") or "").rstrip("x"))
        speed = _GENERATION_GT.get(integer(value.get("PCIe Generation/Current")) or 0)
        best = _GENERATION_GT.get(integer(value.get("PCIe Generation/Max")) or 0)
        if lanes is None and speed is None:
            return
        yield PcieLink(
            device=self.gpu,
            name="GPU",
            lanes=lanes,
            max_lanes=most,
            transfers_per_s=speed * _GIGA if speed else None,
            max_transfers_per_s=best * _GIGA if best else None,
            host=self.source.host,
            evidence=self.link_at,
        )


nvidia_smi_query = Parser(
    tool="nvidia-smi -q",
    marks=(
        "NVSMI LOG",
        "GPU 0000",
        "Throttle Reasons",
        "Event Reasons",
        "Remapped Rows",
        "GPU Link Info",
        "Attached GPUs",
        "    Fabric\n",
        "    ECC Errors\n",
    ),
    reader=_Reader,
    rank=27,
)
