"""``nvidia-smi dmon`` and ``dcgmi dmon``: a row a second and GPU, with columns as asked."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from weft.observe.facts.base import Evidence, Fact
from weft.observe.facts.gpus import GpuFault, GpuReading, GpuThrottle
from weft.observe.parser import READ, Parser, Source
from weft.observe.parsers._values import real

_HEADING = re.compile(r"#\s?(?:Date\s+Time\s+|Time\s+)?(?:gpu|Entity)\s+\w")
_UNITS = re.compile(r"#?\s?(?:YYYYMMDD|HH:MM:SS|Idx|ID)\b")
_ROW = re.compile(r"\s*(?:GPU )?\d")
_READINGS = {
    "pwr": ("power_draw", "W", 1.0),
    "gtemp": ("temperature", "°C", 1.0),
    "tmptr": ("temperature", "°C", 1.0),
    "pclk": ("sm_clock", "Hz", 1e6),
    "smclk": ("sm_clock", "Hz", 1e6),
    "sm": ("utilisation", "ratio", 0.01),
    "gputl": ("utilisation", "ratio", 0.01),
}


@dataclass(slots=True)
class _Reader:
    """Remembers the columns."""

    source: Source
    columns: list[str] = field(default_factory=list)

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return the facts of a row."""
        if _HEADING.match(text):
            names = [one.lower() for one in text.lstrip("# ").split()]
            self.columns = ["gpu" if one == "entity" else one for one in names]
            return READ
        if not self.columns:
            return None
        if _UNITS.match(text):
            return READ
        cells = text.replace("GPU ", "").split()
        if len(cells) != len(self.columns) or not _ROW.match(text):
            return None
        return self._row(dict(zip(self.columns, cells, strict=True)), text, number)

    def end(self) -> Iterable[Fact]:
        """Forget the columns."""
        self.columns = []
        return READ

    def _row(self, row: dict[str, str], text: str, number: int) -> Sequence[Fact]:
        evidence, gpu, host = self.source.evidence(text, number), row["gpu"], self.source.host
        facts: list[Fact] = []
        for column, cell in row.items():
            value, known = real(cell), _READINGS.get(column)
            if known and value is not None:
                facts.append(
                    GpuReading(
                        gpu=gpu, name=known[0], value=value * known[2], unit=known[1],
                        host=host, evidence=evidence,
                    )
                )  # fmt: skip
            build = _EVENTS.get(column)
            if build and value:
                facts.append(build(gpu, int(value), host, evidence))
        return facts


def _hot(gpu: str, value: int, host: str, evidence: Evidence) -> Fact:
    del value
    return GpuThrottle(gpu=gpu, reason="thermal", active=True, host=host, evidence=evidence)


def _fault(gpu: str, value: int, host: str, evidence: Evidence) -> Fact:
    return GpuFault(
        code=value, bus_id=f"GPU {gpu}", text=f"XID {value}", host=host, evidence=evidence
    )


_EVENTS: dict[str, Callable[[str, int, str, Evidence], Fact]] = {
    "tviol": _hot,
    "xider": _fault,
}
"""Columns of which anything but zero is an event."""

gpu_monitor = Parser(
    tool="nvidia-smi dmon",
    marks=("# gpu", "#gpu", "#Entity", "# Date", "#Date", "#Time", "# Time", "# Idx"),
    reader=_Reader,
    rank=35,
)
