"""The machine as NCCL writes it down (``NCCL_TOPO_DUMP_FILE``): a tree of XML elements.

Read element by element: an entity or a document type is no element, so none is ever followed.
How near GPUs and adapters are to one another follows from the bridges between them.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Final

from weft import units
from weft.observe.facts.base import Evidence, Fact
from weft.observe.facts.communicators import TopologyPart
from weft.observe.facts.pci import Distance, NumaAffinity, PcieLink
from weft.observe.facts.transports import GpuDirectState
from weft.observe.parser import READ, Parser, Source
from weft.observe.parsers._values import integer, real

_ELEMENT = re.compile(
    r"\s*<(?P<close>/?)(?P<name>system|cpu|pci|gpu|nic|net|nvlink|c2c|nvs|pcilink|xgmi)\b"
    r"(?P<attributes>[^<>]{0,1800}?)(?P<alone>/?)>\s*$"
)
_ATTRIBUTE = re.compile(r"(\w{1,40})=\"([^\"]{0,300})\"")
_GIGA: Final = 1e9
_ENCODING_RATIO: Final = 128 / 130
"""From the third generation on; before it was 8 bits in 10 [PCI Express Base, 4.2.2]."""
_OLD_ENCODING_RATIO: Final = 8 / 10
_OLD_GIGA: Final = 5.0
_BEGINS: Final = frozenset({"system", "cpu", "pci"})
"""Elements by which a cut text of the tree is known as well."""
_DEEPEST: Final = 64
_MOST_DEVICES: Final = 256
_BRIDGE_CLASS = "0x0604"


@dataclass(frozen=True, slots=True)
class _Device:
    """A GPU or an adapter, with what stands above it, the processor first."""

    name: str
    above: tuple[tuple[str, str], ...]
    evidence: Evidence


@dataclass(slots=True)
class _Reader:
    """Follows the tree, remembering GPUs and adapters."""

    source: Source
    above: list[tuple[str, str]] = field(default_factory=list)
    gpus: list[_Device] = field(default_factory=list)
    nics: list[_Device] = field(default_factory=list)
    inside: bool = False
    numa: str = ""

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return the facts of an element."""
        found = _ELEMENT.match(text)
        if not found or not (self.inside or found["name"] in _BEGINS):
            return None
        name = found["name"]
        if found["close"]:
            if self.above and self.above[-1][0] == name:
                self.above.pop()
            return tuple(self.end()) if name == "system" else READ
        self.inside = True
        values = dict(_ATTRIBUTE.findall(found["attributes"]))
        facts = tuple(self._opened(name, values, self.source.evidence(text, number)))
        if not found["alone"] and len(self.above) < _DEEPEST:
            self.above.append((name, _named(name, values)))
        return facts

    def end(self) -> Iterable[Fact]:
        """State how near GPUs and adapters are, and forget the machine."""
        gpus, nics = self.gpus, self.nics
        self.above, self.gpus, self.nics, self.inside = [], [], [], False
        return [
            Distance(
                source=gpu.name,
                target=nic.name,
                connection=_nearness(gpu.above, nic.above),
                host=self.source.host,
                evidence=nic.evidence,
            )
            for gpu, nic in product(gpus, nics)
        ]

    def _opened(self, name: str, values: dict[str, str], at: Evidence) -> Iterator[Fact]:
        if name == "cpu":
            self.numa = values.get("numaid", "")
        elif name == "pci":
            yield from self._slot(values, at)
        elif name == "gpu":
            yield from self._gpu(values, at)
        elif name == "net":
            yield from self._net(values, at)

    def _slot(self, values: dict[str, str], at: Evidence) -> Iterator[Fact]:
        lanes, giga = integer(values.get("link_width")), real(values.get("link_speed"))
        trained = bool(lanes and giga)
        old = giga is not None and giga <= _OLD_GIGA
        encoded = _OLD_ENCODING_RATIO if old else _ENCODING_RATIO
        gbit = (giga or 0.0) * (lanes or 0) * encoded
        yield TopologyPart(
            depth=len(self.above),
            kind="PCI",
            name=values.get("busid", ""),
            model=_model(values),
            link="PCI",
            link_bytes_per_s=units.rate_from_gbit(gbit) if trained else None,
            evidence=at,
        )
        if trained and not values.get("class", "").startswith(_BRIDGE_CLASS):
            yield PcieLink(
                device=values.get("busid", ""),
                lanes=lanes,
                transfers_per_s=(giga or 0.0) * _GIGA,
                host=self.source.host,
                evidence=at,
            )

    def _gpu(self, values: dict[str, str], at: Evidence) -> Iterator[Fact]:
        name = f"GPU{values.get('dev', '')}"
        if len(self.gpus) < _MOST_DEVICES:
            self.gpus.append(_Device(name, tuple(self.above), at))
        rank = integer(values.get("rank"))
        yield TopologyPart(depth=len(self.above), kind="GPU", name=name, rank=rank, evidence=at)
        yield NumaAffinity(device=name, numa=self.numa, host=self.source.host, evidence=at)

    def _net(self, values: dict[str, str], at: Evidence) -> Iterator[Fact]:
        name = values.get("name", "")
        if len(self.nics) < _MOST_DEVICES:
            self.nics.append(_Device(name, tuple(self.above), at))
        mbit = integer(values.get("speed"))
        yield TopologyPart(
            depth=len(self.above),
            kind="NET",
            name=name,
            link="NET",
            link_bytes_per_s=units.rate_from_gbit(mbit * 1e-3) if mbit else None,
            evidence=at,
        )
        if values.get("gdr") in {"0", "1"}:
            yield GpuDirectState(
                enabled=values["gdr"] == "1",
                adapter=name,
                index=integer(values.get("dev")),
                evidence=at,
            )


def _model(values: dict[str, str]) -> str:
    """Return vendor and device of a PCI device, where the dump gives both."""
    vendor, device = (values.get(name, "").removeprefix("0x") for name in ("vendor", "device"))
    return f"{vendor}:{device}" if vendor and device else ""


def _named(name: str, values: dict[str, str]) -> str:
    return values.get("busid") or values.get("numaid") or name


def _nearness(one: Sequence[tuple[str, str]], other: Sequence[tuple[str, str]]) -> str:
    """Return how two devices are joined, in the words of ``nvidia-smi topo``."""
    shared = 0
    while shared < min(len(one), len(other)) and one[shared] == other[shared]:
        shared += 1
    common = {name for name, _ in one[:shared]}
    if "pci" in common:
        # What is left of each side ends with the device's own slot.
        beyond = [name for name, _ in (*one[shared:-1], *other[shared:-2]) if name == "pci"]
        return "PXB" if beyond else "PIX"
    return "PHB" if "cpu" in common else "SYS"


nccl_topology = Parser(
    tool="NCCL topology file",
    marks=("<system", "<pci ", "<cpu ", "<gpu ", "<net ", "</pci>", "</cpu>", "</system>"),
    reader=_Reader,
    rank=57,
)
