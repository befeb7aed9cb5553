"""``rocm-smi`` and ``amd-smi``: AMD GPUs, their heat, memory and links."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from weft.observe.facts.base import Fact
from weft.observe.facts.gpus import (
    GpuFault,
    GpuLink,
    GpuLinkErrors,
    GpuReading,
    GpuSeen,
    GpuThrottle,
    GpuUnreachable,
)
from weft.observe.facts.pci import Distance, PcieLink
from weft.observe.parser import READ, Parser, Source
from weft.observe.parsers._values import integer, real

_TITLE = re.compile(
    r"={4,}|\s*(?:ROCm System Management Interface|LINK (?:TYPE|STATUS|TOPOLOGY)|ACCESS TABLE|"
    r"WEIGHT TABLE|HOPS TABLE|NUMA BW TABLE)"
)
_TYPES = re.compile(r".*(?:Link Type between|LINK TYPE TABLE)")
_STATUS = re.compile(r"\s*(?:XGMI )?LINK STATUS")
_COLUMNS = re.compile(r"\s+(?:GPU\d+|[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.\d)(?:\s|$)")
_CELLS = re.compile(
    r"(?P<gpu>GPU\d+|[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.\d)\s+(?P<cells>\w+(?:\s+\w+){0,19})\s*$"
)
_LINKS = re.compile(
    r"(?P<gpu>GPU\d+)\s+[0-9a-f]{4}:[0-9a-f:.]{7,9}\s+(?P<cells>(?:SELF|[UDX]|N/A)"
    r"(?:\s+(?:SELF|[UDX]|N/A)){1,19})\s*$"
)
_GPU = re.compile(r"\s*GPU: (?P<gpu>\d{1,3})\s*$")
_FIELD = re.compile(r"\s*GPU\[(?P<gpu>\d{1,3})\]\s*: (?P<text>\S.*)")
_LOST = re.compile(r"device is lost|lost from the bus|[Uu]nable to read device|not responding")
_XGMI = re.compile(r"XGMI Error count: (?P<text>.+)")
_TEMPERATURE = re.compile(
    r"Temperature \(Sensor (?P<where>junction|hotspot)\) \(C\): (?P<value>[\d.]+)"
)
_NAME = re.compile(r"Card (?:[Ss]eries|SKU|model): +(?P<name>\S.*)")
_THROTTLE = re.compile(
    r"\s*(?P<what>\w*(?:THERMAL|PROCHOT)\w*?)_(?:VIOLATION_)?(?:STATUS|ACTIVE): "
    r"(?P<state>\w[\w ]*)"
)
_WIDTH = re.compile(r"\s*(?P<most>MAX_PCIE_)?WIDTH: (?P<lanes>\d{1,2})\s*$")
_RAS = re.compile(
    r"\s*(?P<block>[A-Z][A-Z0-9_]{1,15})\s+(?:ENABLED|DISABLED|CE/UE)\s+(?P<ce>\d+)\s+(?P<ue>\d+)\s*$"
)
_BLOCK = re.compile(r"\s*(?P<block>[A-Z][A-Z0-9_]{1,15}):\s*$")
_COUNT = re.compile(r"\s*(?P<name>TOTAL_)?UNCORRECTABLE_COUNT: (?P<count>\d+)")
_HANG = re.compile(
    r"HW Exception by GPU node-(?P<gpu>\d+).{0,60}reason ?: ?(?P<why>GPU Hang|ECC\w*)"
)
_NOT_A_BLOCK = frozenset(
    {"TEMPERATURE", "THROTTLE", "ECC", "ECC_BLOCKS", "USAGE", "POWER", "CLOCK"}
)
_MEMORY, _LINK, _OTHER = 95, 74, 62


@dataclass(slots=True)
class _Reader:
    """Reads tables, remembering which, and the GPU above."""

    source: Source
    table: str = ""
    gpu: str = ""
    block: str = ""
    columns: list[str] = field(default_factory=list)

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return the facts of a line."""
        title = _TYPES.match(text) or _STATUS.match(text) or _TITLE.match(text)
        if title:
            kinds = (("types", _TYPES), ("links", _STATUS))
            self.table = next((kind for kind, one in kinds if one.match(text)), "")
            self.columns = []
            return READ
        hang = _HANG.search(text)
        if hang:
            return (self._fault(_OTHER, hang[0], f"node-{hang['gpu']}", text, number),)
        found = _FIELD.match(text)
        if found:
            self.gpu = found["gpu"]
            return self._said(found["text"], text, number)
        gpu = _GPU.match(text)
        if gpu:
            self.gpu, self.block = gpu["gpu"], ""
            return READ
        if self.table:
            return self._table(text, number)
        return self._of_gpu(text, number) if self.gpu else None

    def end(self) -> Iterable[Fact]:
        """Forget where the text was."""
        self.table, self.gpu, self.block = "", "", ""
        return READ

    def _table(self, text: str, number: int) -> Sequence[Fact] | None:
        evidence, host = self.source.evidence(text, number), self.source.host
        links = _LINKS.match(text)
        if links:
            words = [one for one in links["cells"].split() if one in {"U", "D", "X"}]
            return tuple(
                GpuLink(
                    gpu=links["gpu"], gpu_name="Instinct", link=link, active=word == "U",
                    host=host, evidence=evidence,
                )
                for link, word in enumerate(words)
            )  # fmt: skip
        if _COLUMNS.match(text):
            self.columns = text.split()
            return READ
        row = _CELLS.match(text)
        if not row or self.table != "types" or len(row["cells"].split()) != len(self.columns):
            return None
        names = {name: f"GPU{place}" for place, name in enumerate(self.columns)}
        return tuple(
            Distance(
                source=names.get(row["gpu"], row["gpu"]), target=names[column],
                connection=cell, host=host, evidence=evidence,
            )
            for column, cell in zip(self.columns, row["cells"].split(), strict=True)
            if column != row["gpu"] and cell.isalpha()
        )  # fmt: skip

    def _said(self, words: str, text: str, number: int) -> Sequence[Fact]:
        """Read what ``rocm-smi`` says of a GPU after its number."""
        evidence, host = self.source.evidence(text, number), self.source.host
        if _LOST.search(words):
            return (GpuUnreachable(error="GPU is lost", host=host, evidence=evidence),)
        errors = _XGMI.match(words)
        if errors and not errors["text"].lower().startswith(("no ", "0")):
            return (
                GpuLinkErrors(
                    gpu=self.gpu, link=None, counter="recovery", value=1, host=host,
                    evidence=evidence,
                ),
            )  # fmt: skip
        heat = _TEMPERATURE.match(words)
        if heat:
            return (
                GpuReading(
                    gpu=self.gpu, name="temperature", value=real(heat["value"]), unit="°C",
                    host=host, evidence=evidence,
                ),
            )  # fmt: skip
        if "throttle status: thermal" in words.lower():
            return (self._hot("thermal", text, number),)
        name = _NAME.match(words)
        if name:
            return (
                GpuSeen(name=name["name"], index=int(self.gpu), host=host, evidence=evidence),
            )
        return READ

    def _of_gpu(self, text: str, number: int) -> Sequence[Fact] | None:
        """Read the values of a GPU that ``amd-smi`` lists, or counts of its blocks."""
        throttle = _THROTTLE.match(text)
        if throttle:
            active = throttle["state"].strip().lower() in {"active", "true"}
            return (self._hot(throttle["what"].lower(), text, number),) if active else READ
        block = _BLOCK.match(text)
        if block:
            self.block = block["block"]
            return READ
        width = _WIDTH.match(text)
        if width and (width["most"] or self.block == "PCIE"):
            return self._width(int(width["lanes"]), bool(width["most"]), text, number)
        return self._counted(text, number)

    def _width(self, lanes: int, most: bool, text: str, number: int) -> Sequence[Fact]:  # noqa: FBT001 - a column's sort
        now, best = (None, lanes) if most else (lanes, None)
        return (
            PcieLink(
                device=f"GPU {self.gpu}", name="GPU", lanes=now, max_lanes=best,
                host=self.source.host, evidence=self.source.evidence(text, number),
            ),
        )  # fmt: skip

    def _counted(self, text: str, number: int) -> Sequence[Fact] | None:
        """Read how many errors a block of a GPU had."""
        counted = _RAS.match(text)
        if counted:
            return self._uncorrected(counted["block"], integer(counted["ue"]), text, number)
        count = _COUNT.match(text)
        if not count:
            return None
        if count["name"] or self.block in _NOT_A_BLOCK:
            return READ
        return self._uncorrected(self.block, integer(count["count"]), text, number)

    def _uncorrected(
        self, block: str, count: int | None, text: str, number: int
    ) -> Sequence[Fact]:
        if not count:
            return READ
        code = _LINK if block.startswith("XGMI") else _MEMORY
        return (self._fault(code, f"{block}: {count} uncorrectable", self.gpu, text, number),)

    def _fault(self, code: int, words: str, gpu: str, text: str, number: int) -> GpuFault:
        return GpuFault(
            code=code, text=words, bus_id=f"GPU {gpu}", fatal=True, host=self.source.host,
            evidence=self.source.evidence(text, number),
        )  # fmt: skip

    def _hot(self, reason: str, text: str, number: int) -> GpuThrottle:
        return GpuThrottle(
            gpu=self.gpu, reason=f"thermal {reason}", active=True, host=self.source.host,
            evidence=self.source.evidence(text, number),
        )  # fmt: skip


amd_gpus = Parser(
    tool="rocm-smi and amd-smi",
    marks=(
        "GPU[", "ROCm System", "Link Type between", "LINK TYPE", "LINK STATUS", "GPU: ",
        "HW Exception by GPU",
    ),
    reader=_Reader,
    rank=33,
)  # fmt: skip
