"""Topology of one host as NCCL reads it (NCCL_TOPO_FILE), in XML."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from xml.parsers import expat

from weft.lint.document import whole
from weft.lint.facts import Fact, Flaw, PciDevice
from weft.lint.reader import File, Reader

_FORBIDDEN = ("<!DOCTYPE", "<!ENTITY")


def _claims(file: File) -> bool:
    return file.name.endswith(".xml") and ("<system" in file.head or "<cpu " in file.head)


@dataclass(slots=True)
class _Walk:
    """Where the parser is: the CPU, the PCIe devices above, and what was found."""

    file: File
    parser: Any
    above: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    found: list[Fact] = field(default_factory=list)

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Note a device with what it hangs on."""
        if tag in {"gpu", "net"}:
            buses = [a.get("busid", "") for name, a in self.above if name == "pci"]
            cpus = [a.get("numaid", "") for name, a in self.above if name == "cpu"]
            own = [a for name, a in self.above if name == "pci"]
            self.found.append(
                PciDevice(
                    at=self.file.at(self.parser.CurrentLineNumber),
                    kind=tag,
                    name=attributes.get("name") or attributes.get("dev", ""),
                    numa=cpus[-1] if cpus else "",
                    switch=buses[-2] if len(buses) > 1 else "",
                    speed=own[-1].get("link_speed", "") if own else "",
                    width=whole(own[-1].get("link_width", "")) if own else None,
                )
            )
        self.above.append((tag, attributes))

    def end(self, _tag: str) -> None:
        """Leave a device."""
        self.above.pop()


def _read(file: File) -> Iterator[Fact]:
    if any(word in file.text.content for word in _FORBIDDEN):
        yield Flaw(
            at=file.at(1),
            rule="broken_document",
            message="declares entities",
            fix="a topology of NCCL has none; remove the declaration",
        )
        return
    parser = expat.ParserCreate()
    walk = _Walk(file, parser)
    parser.StartElementHandler, parser.EndElementHandler = walk.start, walk.end
    try:
        parser.Parse(file.text.content, True)  # noqa: FBT003 - the signature of expat
    except expat.ExpatError as failure:
        yield Flaw(
            at=file.at(failure.lineno, failure.offset + 1),
            rule="broken_document",
            message=expat.ErrorString(failure.code),
            fix="correct the XML",
        )
    yield from walk.found


nccl_topology = Reader(title="topology of NCCL", claims=_claims, read=_read)
