"""``perfquery``: the counters of one port, one dotted line each."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from weft.observe.facts.base import Fact
from weft.observe.facts.interfaces import Counter
from weft.observe.parser import READ, Parser, Source
from weft.observe.parsers._ib_counters import kernel_name, saturated

_OPENS = re.compile(
    r"# Port (?:extended |Xmit \w+ )?counters: (?:Lid (?P<lid>\d+)|(?P<path>\S.*?)) "
    r"port (?P<port>\d+)"
)
_FIELD = re.compile(r"(?P<name>\w+):\.{2,}(?P<value>0x[0-9a-fA-F]+|\d+)\s*$")
_NO_COUNTERS = {"PortSelect", "CounterSelect", "CounterSelect2"}


@dataclass(slots=True)
class _Reader:
    """Reads the counters of the port named above."""

    source: Source
    where: str = ""
    port: int | None = None

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return the counter of a line."""
        opens = _OPENS.match(text)
        if opens:
            self.where = f"lid {opens['lid']}" if opens["lid"] else opens["path"]
            self.port = int(opens["port"])
            return READ
        found = _FIELD.match(text)
        if not found or not (self.where or found["name"].endswith(("Counter", "Errors"))):
            return None
        if found["name"] in _NO_COUNTERS:
            return READ
        name, value = kernel_name(found["name"]), int(found["value"], 0)
        return (
            Counter(
                where=self.where,
                port=self.port,
                name=name,
                value=value,
                saturated=saturated(name, value),
                host=self.source.host,
                evidence=self.source.evidence(text, number),
            ),
        )

    def end(self) -> Iterable[Fact]:
        """Keep nothing to the end."""
        return READ


perfquery = Parser(
    tool="perfquery",
    marks=(
        "counters: ",
        "PortSelect:..",
        "Counter:..",
        "PortXmit",
        "PortRcv",
        "XmtData",
        "RcvData",
    ),
    reader=_Reader,
    rank=31,
)
