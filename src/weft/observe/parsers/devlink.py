"""``devlink health show``: what a driver's own watch over its adapter says."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from weft.observe.facts import AdapterFault, Fact
from weft.observe.parser import READ, Parser, Source

_DEVICE = re.compile(r"(?:pci|auxiliary)/(?P<device>[\w.:-]{4,60}?)(?:/\d+)?:?\s*$")
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
        reporter = _REPORTER.match(text)
        if reporter:
            self.reporter = reporter["name"]
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

    def end(self) -> Iterable[Fact]:
        """Forget the device."""
        self.device, self.reporter = "", ""
        return READ


devlink = Parser(
    tool="devlink health",
    marks=("reporter ", "devlink health"),
    reader=_Reader,
    rank=34,
)
