"""``ls /sys/class/pci_bus``: the buses that a host or a container shows.

Only a list that nobody cut says that a bus is missing: one that is not searched, and is shorter
than what ``head`` lets through.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from weft.observe.facts.base import Fact
from weft.observe.facts.pci import PciBus
from weft.observe.parser import READ, Parser, Source

_ASKED = re.compile(r"\bls (?:-\w+ )*/sys/class/pci_bus/?\s*(?P<rest>\|.*)?$")
_ROW = re.compile(
    r"\s*(?P<buses>[0-9a-f]{4,5}:[0-9a-f]{2}(?:\s+[0-9a-f]{4,5}:[0-9a-f]{2})*)\s*$"
)
_HEAD = re.compile(r"\|\s*head\s*$")
_HEAD_LINES = 10
"""``head`` shows so many."""
_MOST_BUSES = 4096


@dataclass(slots=True)
class _Reader:
    """Gathers the list until another command."""

    source: Source
    buses: list[PciBus] = field(default_factory=list)

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Gather the buses of a line."""
        row, asked = _ROW.match(text), _ASKED.search(self.source.command)
        if not row or not asked:
            return None
        evidence = self.source.evidence(text, number)
        cut = asked["rest"] or ""
        if len(self.buses) < _MOST_BUSES and (not cut or _HEAD.match(cut)):
            limit = _HEAD_LINES if cut else 0
            self.buses += [
                PciBus(bus=one, host=self.source.host, evidence=evidence)
                for one in row["buses"].split()
            ]
            if limit and len(self.buses) >= limit:
                self.buses = []
        return READ

    def end(self) -> Iterable[Fact]:
        """State the list."""
        buses, self.buses = self.buses, []
        return buses


pci_buses = Parser(
    tool="PCI buses", marks=("/sys/class/pci_bus",), reader=_Reader, rank=32, longest=400
)
