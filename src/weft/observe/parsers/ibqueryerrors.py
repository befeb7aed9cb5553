"""``ibqueryerrors``: counters over their thresholds, by node and port.

``port ALL`` repeats the sum of the ports of a switch and is not stated again.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from weft.observe.facts.base import Fact
from weft.observe.facts.interfaces import Counter
from weft.observe.parser import READ, Parser, Source
from weft.observe.parsers._ib_counters import kernel_name, saturated

_NODE = re.compile(r"Errors for (?:(?P<guid>0x[0-9a-f]+) )?\"(?P<name>[^\"]*)\"")
_PORT = re.compile(
    r"\s*GUID (?P<guid>0x[0-9a-f]+)(?:\.{3})? port (?P<port>\d+|ALL): (?P<counters>.*)"
)
_COUNTER = re.compile(r"\[(\w+) == (\d+)(?: \([^)]*\))?\]")
_SUMMARY = re.compile(r"## |\s*Link info:")


@dataclass(slots=True)
class _Reader:
    """Reads ports, remembering the node above; only a switch's heading has its GUID."""

    source: Source
    name: str = ""
    switch: bool = False

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return the counters of a line."""
        node = _NODE.match(text)
        if node:
            self.name, self.switch = node["name"], bool(node["guid"])
            return READ
        found = _PORT.match(text)
        if not found:
            return READ if _SUMMARY.match(text) and ("#" in text or self.name) else None
        if found["port"] == "ALL":
            return READ
        evidence = self.source.evidence(text, number)
        counters = [(kernel_name(n), int(v)) for n, v in _COUNTER.findall(found["counters"])]
        return tuple(
            Counter(
                where=self.name or found["guid"],
                port=int(found["port"]),
                name=name,
                value=value,
                on_switch=self.switch,
                saturated=saturated(name, value),
                evidence=evidence,
            )
            for name, value in counters
        )

    def end(self) -> Iterable[Fact]:
        """Keep nothing to the end."""
        return READ


ibqueryerrors = Parser(
    tool="ibqueryerrors",
    marks=("Errors for ", "GUID 0x", "## Summary", "## Thresholds", "## Suppressed"),
    reader=_Reader,
    rank=28,
)
