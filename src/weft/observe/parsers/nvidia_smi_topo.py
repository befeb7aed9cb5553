"""``nvidia-smi topo -m``: how GPUs and adapters of a host are joined.

Columns are GPUs and ``NIC<n>`` with a legend below, or adapters by name (older drivers).
The heading may be missing in a paste: then the columns are taken for GPUs in order.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from weft.observe.facts.base import Evidence, Fact
from weft.observe.facts.pci import Distance, NumaAffinity
from weft.observe.parser import READ, Parser, Source

_HEADING = re.compile(r"\s*GPU0(?:\s|$)")
_ROW = re.compile(
    r"\s*(?P<device>GPU\d+|NIC\d+|mlx\d_\w+|CPU\d+)\s+(?P<cells>(?:X|SYS|NODE|PHB|PXB|"
    r"PIX|NV\d+|PIP|N/A|OK|C?NS|GNS|TNS)(?=\s).*)"
)
_CELL = re.compile(r"(X|SYS|NODE|PHB|PXB|PIX|PIP|NV\d+|OK|C?NS|GNS|TNS)$")
_LEGEND = re.compile(r"\s*(?P<nic>NIC\d+):\s*(?P<adapter>[\w.-]+)\s*$")
_EXPLAINED = re.compile(
    r"\s*(?:X|SYS|NODE|PHB|PXB|PIX|NV#|PIP|OK|C?NS|GNS|TNS|U)\s+= |(?:NIC )?Legend:"
)
_CPUS = re.compile(r"[\d,-]+$")
_NIC = re.compile(r"NIC\d+$")


@dataclass(slots=True)
class _Reader:
    """Gathers the matrix, and states it when the legend is known."""

    source: Source
    columns: list[str] = field(default_factory=list)
    rows: list[tuple[str, list[str], Evidence]] = field(default_factory=list)
    legend: dict[str, str] = field(default_factory=dict)

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Gather a line; a new heading states the matrix before it."""
        if _HEADING.match(text) and not _ROW.match(text):
            done = tuple(self.end())
            names = re.split(r"\s{2,}|\t", text.strip())
            words = text.split()
            self.columns = [w for w in words if re.match(r"(?:GPU\d+|NIC\d+|mlx\d_\w+)$", w)]
            del names
            return done
        row = _ROW.match(text)
        if row:
            if any(device == row["device"] for device, _, _ in self.rows):
                done = tuple(self.end())
                self.rows = [
                    (row["device"], row["cells"].split(), self.source.evidence(text, number))
                ]
                return done
            cells = row["cells"].split()
            self.rows.append((row["device"], cells, self.source.evidence(text, number)))
            return READ
        legend = _LEGEND.match(text)
        if legend:
            self.legend[legend["nic"]] = legend["adapter"]
            return READ
        return READ if _EXPLAINED.match(text) else None

    def end(self) -> Iterable[Fact]:
        """State the matrix."""
        rows, self.rows = self.rows, []
        legend, self.legend = self.legend, {}
        columns, self.columns = self.columns, []
        facts: list[Fact] = []
        for device, cells, evidence in rows:
            distances = [cell for cell in cells if _CELL.match(cell)]
            names = columns or [f"GPU{place}" for place in range(len(distances))]
            facts.extend(
                Distance(
                    source=legend.get(device, device),
                    target=legend.get(name, name),
                    connection=cell,
                    host=self.source.host,
                    evidence=evidence,
                )
                for name, cell in zip(names, distances, strict=False)
                if cell != "X"
            )
            rest = cells[len(distances) :]
            if device.startswith("GPU") and rest and _CPUS.match(rest[0]):
                facts.append(
                    NumaAffinity(
                        device=device,
                        cpus=rest[0],
                        numa=rest[1] if len(rest) > 1 else "",
                        host=self.source.host,
                        evidence=evidence,
                    )
                )
        return facts


nvidia_smi_topo = Parser(
    tool="nvidia-smi topo",
    marks=(
        "GPU0",
        "NIC0",
        "NIC Legend",
        "Legend:",
        "  SYS",
        "  PHB",
        "  PIX",
        "\tSYS",
        "\tPHB",
        "\tNV",
        " X ",
    ),
    reader=_Reader,
    rank=30,
)
