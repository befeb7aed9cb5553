"""``nvidia-smi --query-gpu=... --format=csv``: one column a property, one row a GPU."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from weft.observe.facts.base import Evidence, Fact
from weft.observe.facts.gpus import (
    GpuReading,
    GpuSeen,
    GpuThrottle,
    RemappedRows,
    ScaleUpFabricState,
)
from weft.observe.facts.pci import PcieLink
from weft.observe.parser import READ, Parser, Source
from weft.observe.parsers._values import PCIE_TRANSFERS_PER_S, integer, real, yes

_UNIT = re.compile(r"\s*\[[^\]]{1,12}\]")
_READINGS = {
    "temperature.gpu": ("temperature", "°C", 1.0),
    "power.draw": ("power_draw", "W", 1.0),
    "power.limit": ("power_limit", "W", 1.0),
    "clocks.sm": ("sm_clock", "Hz", 1e6),
    "clocks.current.sm": ("sm_clock", "Hz", 1e6),
    "clocks.max.sm": ("sm_clock_max", "Hz", 1e6),
    "utilization.gpu": ("utilisation", "ratio", 0.01),
    "ecc.errors.uncorrected.volatile.total": ("ecc_uncorrectable_volatile", "", 1.0),
    "ecc.errors.uncorrected.aggregate.total": ("ecc_uncorrectable_aggregate", "", 1.0),
    "ecc.errors.corrected.volatile.total": ("ecc_correctable", "", 1.0),
}
_REASON = re.compile(r"clocks_(?:throttle|event)_reasons\.(?P<reason>\w+)")
_NAMES = re.compile(r"(?:[a-z]\w*[._]\w|index\b|name\b|uuid\b|count\b|pstate\b|timestamp\b)")
_FEW_COLUMNS = 2
_ASKED = re.compile(r"--query-gpu[= ](?P<names>[\w.,]{3,600})")
_SAID = ("active", "not active")
_BUS = re.compile(r"(?:[0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.\d|\[|$)")
_BITS = {
    0x8: "hw_slowdown",
    0x20: "sw_thermal_slowdown",
    0x40: "hw_thermal_slowdown",
    0x80: "hw_power_brake_slowdown",
}
"""Bits of the mask of reasons that hold clocks down [nvml.h, nvmlClocksEventReason]."""


def _reasons(mask: int, gpu: str, host: str, evidence: Evidence) -> list[Fact]:
    return [
        GpuThrottle(gpu=gpu, reason=name, active=bool(mask & bit), host=host, evidence=evidence)
        for bit, name in _BITS.items()
    ]


@dataclass(slots=True)
class _Reader:
    """Remembers the columns of the heading."""

    source: Source
    columns: list[str] = field(default_factory=list)
    asked: str = ""

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return the facts of a row."""
        cells = [cell.strip() for cell in text.split(",")]
        names = [_UNIT.sub("", cell) for cell in cells]
        if len(names) >= _FEW_COLUMNS and all(_NAMES.match(name) for name in names):
            self.columns, self.asked = names, self.source.command
            return READ
        if self.asked != self.source.command:
            self._asked_for(len(cells))
        if not self.columns or len(cells) != len(self.columns):
            return None
        row = dict(zip(self.columns, cells, strict=True))
        if not _BUS.match(row.get("pci.bus_id", "")):
            self.columns = []  # another command's output
            return None
        return self._row(row, text, number)

    def _asked_for(self, cells: int) -> None:
        """Take the columns from the command, where it asked for rows without a heading."""
        self.asked = self.source.command
        asked = _ASKED.search(self.source.command)
        names = asked["names"].split(",") if asked and "noheader" in self.source.command else []
        self.columns = names if len(names) == cells else []

    def end(self) -> Iterable[Fact]:
        """Forget the columns."""
        self.columns = []
        return READ

    def _row(self, row: dict[str, str], text: str, number: int) -> Sequence[Fact]:
        bus = row.get("pci.bus_id", row.get("gpu_bus_id", "")).lower()
        gpu = bus or row.get("index", "") or row.get("uuid", "")
        evidence, host = self.source.evidence(text, number), self.source.host
        facts: list[Fact] = [
            GpuSeen(
                name=row.get("name", row.get("gpu_name", "")),
                index=integer(row.get("index")),
                uuid=row.get("uuid", row.get("gpu_uuid", "")),
                bus_id=bus,
                host=host,
                evidence=evidence,
            )
        ]
        for column, cell in row.items():
            known = _READINGS.get(column)
            value = real(cell)
            if known and value is not None:
                name, unit, scale = known
                facts.append(
                    GpuReading(
                        gpu=gpu, name=name, value=value * scale, unit=unit, host=host,
                        evidence=evidence,
                    )
                )  # fmt: skip
            reason = _REASON.match(column)
            if reason and reason["reason"] == "active" and cell.startswith("0x"):
                facts += _reasons(int(cell, 16), gpu, host, evidence)
            elif reason and cell.lower() in _SAID:
                facts.append(
                    GpuThrottle(
                        gpu=gpu, reason=reason["reason"], active=cell.lower() == "active",
                        host=host, evidence=evidence,
                    )
                )  # fmt: skip
        state, status = row.get("fabric.state", ""), row.get("fabric.status", "")
        if state and "N/A" not in state:
            facts.append(
                ScaleUpFabricState(state=state, status=status, gpu=gpu, evidence=evidence)
            )
        facts += self._link(row, gpu, text, number)
        return (*facts, *self._rows(row, gpu, text, number))

    def _link(self, row: dict[str, str], gpu: str, text: str, number: int) -> Sequence[Fact]:
        width, most = (integer(row.get(f"pcie.link.width.{one}")) for one in ("current", "max"))
        if width is None or most is None:
            return READ
        speed, fastest = (
            integer(row.get(f"pcie.link.gen.{one}")) for one in ("current", "max")
        )
        return (
            PcieLink(
                device=gpu,
                name=row.get("name", "") or "NVIDIA GPU",
                lanes=width,
                max_lanes=most,
                transfers_per_s=PCIE_TRANSFERS_PER_S.get(speed or 0),
                max_transfers_per_s=PCIE_TRANSFERS_PER_S.get(fastest or 0),
                host=self.source.host,
                evidence=self.source.evidence(text, number),
            ),
        )

    def _rows(self, row: dict[str, str], gpu: str, text: str, number: int) -> Sequence[Fact]:
        stated = {name.partition(".")[2]: cell for name, cell in row.items()
                  if name.startswith("remapped_rows.")}  # fmt: skip
        if not stated:
            return READ
        return (
            RemappedRows(
                gpu=gpu,
                correctable=integer(stated.get("correctable")),
                uncorrectable=integer(stated.get("uncorrectable")),
                pending=yes(stated.get("pending")),
                failed=yes(stated.get("failure")),
                host=self.source.host,
                evidence=self.source.evidence(text, number),
            ),
        )


nvidia_smi_csv = Parser(
    tool="nvidia-smi --query-gpu",
    marks=(
        "--query-gpu",
        "index, ",
        "name, ",
        "uuid, ",
        "pci.bus_id",
        "pcie.link",
        "clocks_",
        "timestamp, ",
    ),
    reader=_Reader,
    rank=37,
)
