"""Descriptions of machines and networks that other tools write, as far as weft models them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from weft import plugins
from weft.errors import SpecError, Unreadable
from weft.readers import descriptions
from weft.readers.untrusted import Lines, Malformed, read_bytes, xml_value, yaml_documents

MOST_BYTES: Final = 32 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """One kind of host, and what joins them; none: the description does not tell."""

    name: str
    gpu: str
    """As the description prints it."""
    gpus: int
    nic: str
    nics: int
    """That collectives use."""
    hosts: int | None = None
    nic_bytes_per_s: float | None = None
    pcie_bytes_per_s: float | None = None
    """Of the link of one NIC."""
    cpu: str | None = None
    fabric: str | None = None
    topology: Mapping[str, Any] = field(default_factory=dict)
    """Keys of the topology of a cluster."""
    switches: tuple[int, ...] = ()
    """By tier, the one at the hosts first."""
    near: tuple[str, ...] = ()
    """Which NIC is near which GPU."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """A format: how it is recognised and read."""

    title: str
    claims: Callable[[Any], bool]
    reads: Callable[[Any, Lines], Described]
    """Takes the value and the lines of its objects; raises Malformed."""


def read_description(path: Path) -> Described:
    """Read a description; raise SpecError with file and line, or Unreadable."""
    try:
        data = read_bytes(path, MOST_BYTES)
    except OSError as failure:
        reason = failure.strerror or str(failure)
        raise Unreadable(f"{path}: cannot be read: {reason}; check the path") from failure
    if len(data) > MOST_BYTES:
        raise SpecError(
            f"{path}: is larger than {MOST_BYTES >> 20} MiB: is this the right file?"
        )
    try:
        value, lines = _value(data.decode("utf-8", "replace"))
        kinds = (
            plugins.load(descriptions, n, Description) for n in plugins.names(descriptions)
        )
        kind = next((kind for kind in kinds if kind.claims(value)), None)
        if kind is not None:
            return kind.reads(value, lines)
    except Malformed as failure:
        raise SpecError(f"{path}:{failure.line}: {failure.message}") from failure
    known = plugins.titles(descriptions, Description)
    raise SpecError(f"{path}: unknown description format; read are: {known}")


def _value(text: str) -> tuple[Any, Lines]:
    if text.lstrip("\ufeff \t\r\n").startswith("<"):
        return xml_value(text)
    for document in yaml_documents(text):  # JSON is YAML
        return document.value, document.lines
    return None, Lines()
