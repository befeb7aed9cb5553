"""``ucx_info -d``: the transports UCX can use, and the adapter ports they run on."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from weft.observe.facts.adapters import AdapterSeen
from weft.observe.facts.base import Fact
from weft.observe.facts.programs import SoftwareVersion
from weft.observe.facts.transports import DmaBufAvailable
from weft.observe.parser import READ, Parser, Source

_TRANSPORT = re.compile(r"#\s+Transport: (?P<name>\S{1,40})\s*$")
_DEVICE = re.compile(r"#\s+Device: (?P<name>[\w.-]{1,60})(?::(?P<port>\d{1,3}))?\s*$")
_VERSION = re.compile(r"# (?:Library version|Version): (?P<version>\S{1,40})")
_DMABUF = re.compile(r"#\s+.{0,80}\bdmabuf\b", re.IGNORECASE)
_ROW = re.compile(
    r"#\s*(?:$|<|[A-Z][a-z]+ ?\w*: |System device|(?:capabilities|bandwidth|latency|overhead|"
    r"put_|get_|am_|atomic|domain:|connection:|device |priority|error handling|memory|register|"
    r"allocate|remote key|local|rkey_ptr|cost|max|alignment|\w+, ))"
)
_RDMA = ("rc", "ud", "dc", "srd")


@dataclass(slots=True)
class _Reader:
    """Remembers the transport whose device follows."""

    source: Source
    transport: str = ""
    inside: bool = False

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return the facts of a line."""
        evidence = self.source.evidence(text, number)
        version = _VERSION.match(text)
        if version:
            self.inside = True
            return (
                SoftwareVersion(software="UCX", version=version["version"], evidence=evidence),
            )
        transport = _TRANSPORT.match(text)
        if transport:
            self.transport, self.inside = transport["name"], True
            return READ
        if not self.inside:
            return None
        device = _DEVICE.match(text)
        if device:
            rdma = device["port"] and self.transport.startswith(_RDMA)
            host = self.source.host
            name = device["name"]
            return (AdapterSeen(adapter=name, host=host, evidence=evidence),) if rdma else READ
        if _DMABUF.match(text):
            return (DmaBufAvailable(evidence=evidence),)
        return READ if _ROW.match(text) else None

    def end(self) -> Iterable[Fact]:
        """Keep nothing to the end."""
        return READ


ucx_info = Parser(
    tool="ucx_info",
    marks=("Transport: ", "# Library version"),
    reader=_Reader,
    rank=62,
)
