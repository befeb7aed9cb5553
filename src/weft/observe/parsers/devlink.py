"""``devlink health`` and ``devlink port``: a driver's watch over its adapter, and its ports."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from weft.observe.facts.adapters import AdapterFault
from weft.observe.facts.base import Fact
from weft.observe.facts.pci import PciAddress
from weft.observe.parser import READ, Parser, Source

_DEVICE = re.compile(r"(?:pci|auxiliary)/(?P<device>[\w.:-]{4,60}?)(?:/\d+)?:?\s*$")
_PORT = re.compile(
    r"(?:pci|auxiliary)/(?P<bus>[\w.:-]{4,60}?)/\d{1,10}: type (?:eth|ib) (?:netdev|ibdev) "
    r"(?P<name>\S{1,40})(?: flavour (?P<flavour>\w{1,20}))?"
)
_NOT_ITS_OWN = re.compile(r"(?:pci|auxiliary)/\S{4,60}/\d{1,10}: type notset\b")
_REPORTER = re.compile(r"\s{1,8}reporter (?P<name>\w{1,40})\s*$")
_STATE = re.compile(r"\s{1,12}state (?P<state>\w+)(?: error (?P<errors>\d+))?.*")
_OF_THE_DEVICE = frozenset({"fw", "fw_fatal", "hw_fatal", "fatal"})


@dataclass(slots=True)
class _Reader:
    """Remembers the device and reporter whose state stands below."""

    source: Source
    device: str = ""
    reporter: str = ""

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return the fault that a reporter tells of."""
        device = _DEVICE.match(text)
        if device:
            self.device, self.reporter = device["device"], ""
            return READ
        port = _PORT.match(text)
        if port:
            return self._port(port, text, number)
        reporter = _REPORTER.match(text)
        if reporter:
            self.reporter = reporter["name"]
        if reporter or _NOT_ITS_OWN.match(text):
            return READ
        state = _STATE.match(text) if self.reporter else None
        if not state:
            return None
        if state["state"] != "error" or self.reporter not in _OF_THE_DEVICE:
            return READ
        return (
            AdapterFault(
                kind="health",
                device=self.device,
                text=f"{self.reporter}: {text.strip()[:200]}",
                host=self.source.host,
                evidence=self.source.evidence(text, number),
            ),
        )

    def _port(self, port: "re.Match[str]", text: str, number: int) -> Sequence[Fact]:
        """Say which adapter an interface belongs to; those of virtual functions are not its."""
        if port["flavour"] not in {None, "physical", "virtual"}:
            return READ
        return (
            PciAddress(
                device=port["name"], bus_id=port["bus"], host=self.source.host,
                evidence=self.source.evidence(text, number),
            ),
        )  # fmt: skip

    def end(self) -> Iterable[Fact]:
        """Forget the device."""
        self.device, self.reporter = "", ""
        return READ


devlink = Parser(
    tool="devlink",
    marks=("reporter ", "devlink health", ": type eth", ": type ib", ": type notset"),
    reader=_Reader,
    rank=34,
)
