"""Topology of one host as NCCL reads it (NCCL_TOPO_FILE), in XML."""

from collections.abc import Iterator, Mapping
from typing import Any

from weft.lint.document import whole
from weft.lint.facts import Fact, PciDevice
from weft.lint.flaws import flaw
from weft.lint.reader import File, Reader
from weft.readers.untrusted import Malformed, xml_value

Path = tuple[tuple[str, Mapping[str, Any]], ...]


def _elements(tag: str, value: Any, above: Path) -> Iterator[tuple[str, Any, Path]]:  # noqa: ANN401 - any XML
    """Yield every element with its tag and those above it, outermost first."""
    for item in value if isinstance(value, list) else [value]:
        yield tag, item, above
        if isinstance(item, dict):
            for name, below in item.items():
                if isinstance(below, dict | list):
                    yield from _elements(name, below, (*above, (tag, item)))


def _text(element: Mapping[str, Any], name: str) -> str:
    said = element.get(name, "")
    return said if isinstance(said, str) else ""


def _read(file: File) -> Iterator[Fact]:
    try:
        document, lines = xml_value(file.text.content)
    except Malformed as failure:
        yield flaw(
            file.at(failure.line, failure.column), "topology_xml", message=failure.message
        )
        return
    for tag, element, above in _elements("", document, ()):
        if tag in {"gpu", "net"} and isinstance(element, dict):
            slots = [own for name, own in above if name == "pci"]
            cpus = [own for name, own in above if name == "cpu"]
            yield PciDevice(
                at=file.at(lines[id(element)]),
                kind=tag,
                name=_text(element, "name") or _text(element, "dev"),
                numa=_text(cpus[-1], "numaid") if cpus else "",
                switch=_text(slots[-2], "busid") if len(slots) > 1 else "",
                speed=_text(slots[-1], "link_speed") if slots else "",
                width=whole(_text(slots[-1], "link_width")) if slots else None,
            )


nccl_topology = Reader(title="topology of NCCL", read=_read)
