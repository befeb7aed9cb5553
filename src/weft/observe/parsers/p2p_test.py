"""``p2pBandwidthLatencyTest``: rates and times between the GPUs of a host."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from weft.observe.facts.base import Fact
from weft.observe.facts.benchmarks import MeasuredCopy
from weft.observe.facts.gpus import GpuSeen
from weft.observe.parser import READ, Parser, Source
from weft.observe.parsers._values import real

_GIGA, _MICRO = 1e9, 1e-6
_DEVICE = re.compile(
    r"\s*Device: (?P<index>\d+), (?P<name>.{1,80}?), pciBusID: (?P<bus>[0-9a-fA-F]{1,2}), "
    r"pciDeviceID: (?P<slot>[0-9a-fA-F]{1,2}), pciDomainID: ?(?P<domain>[0-9a-fA-F]{1,8})"
)
_TITLE = re.compile(
    r"\s*(?:(?P<ways>Uni|Bi)directional )?P2P=(?P<peers>Enabled|Disabled) "
    r"(?P<what>Bandwidth|Latency)\b.{0,40}\((?P<unit>GB/s|us)\)"
)
_COLUMNS = re.compile(r"\s*(?:D\\D|GPU|CPU)((?:\s+\d+)+)\s*$")
_ROW = re.compile(r"\s*(?P<row>\d{1,3})((?:\s+[\d.]{1,12})+)\s*$")
_OTHER = re.compile(
    r"\s*(?:\[P2P \(Peer-to-Peer\)|Device=\d+ CAN|P2P Connectivity Matrix|\*\*\*NOTE: In case "
    r"a device|So you can see lesser Bandwidth|NOTE: The CUDA Samples)"
)


@dataclass(slots=True)
class _Reader:
    """Reads matrices, remembering the title above."""

    source: Source
    test: str = ""
    scale: float = 1.0
    columns: list[str] = field(default_factory=list)

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return the facts of a line."""
        evidence = self.source.evidence(text, number)
        device = _DEVICE.match(text)
        if device:
            bus = (int(device[name], 16) for name in ("domain", "bus", "slot"))
            return (
                GpuSeen(
                    name=device["name"], index=int(device["index"]),
                    bus_id="{:04x}:{:02x}:{:02x}.0".format(*bus), host=self.source.host,
                    evidence=evidence,
                ),
            )  # fmt: skip
        title = _TITLE.match(text)
        if title:
            peers, what = title["peers"].lower(), title["what"].lower()
            self.test = f"p2p {(title['ways'] or '').lower()} {what} {peers}".replace("  ", " ")
            self.scale = _GIGA if title["unit"] == "GB/s" else _MICRO
            self.columns = []
            return READ
        columns = _COLUMNS.match(text)
        if columns and self.test:
            self.columns = columns[1].split()
            return READ
        row = _ROW.match(text) if self.columns else None
        if row:
            return self._row(row, text, number)
        return READ if _OTHER.match(text) else None

    def _row(self, row: "re.Match[str]", text: str, number: int) -> Sequence[Fact]:
        evidence, timed = self.source.evidence(text, number), self.scale == _MICRO
        cells = zip(self.columns, row[2].split(), strict=False)
        return tuple(
            MeasuredCopy(
                test=self.test, source=f"GPU {row['row']}", target=f"GPU {column}",
                bytes_per_s=None if timed else value * self.scale,
                latency_s=value * self.scale if timed else None, evidence=evidence,
            )
            for column, cell in cells
            if column != row["row"] and (value := real(cell)) is not None
        )  # fmt: skip

    def end(self) -> Iterable[Fact]:
        """Keep nothing to the end."""
        return READ


p2p_test = Parser(
    tool="p2pBandwidthLatencyTest",
    marks=("P2P=", "Peer-to-Peer", "pciBusID:", "P2P Connectivity"),
    reader=_Reader,
    rank=36,
)
