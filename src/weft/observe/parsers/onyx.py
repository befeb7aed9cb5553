"""Managed InfiniBand switches (Onyx, MLNX-OS, NVOS): ``show interfaces ib status``."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from weft.observe.facts.adapters import AdapterPort
from weft.observe.facts.base import Fact, LinkLayer, PortState
from weft.observe.facts.interfaces import Interface
from weft.observe.parser import READ, Parser, Source
from weft.observe.parsers._values import physical, state

_HEAD = re.compile(r"\s*Interface\s+Description\s+Speed\s.*Logical port state\s+Physical port")
_RULE = re.compile(r"\s*-{2,}(?:\s+-{2,}){2,}\s*$")
_ROW = re.compile(
    r"\s*(?P<port>(?:IB|sw)\s?\d+[\w/]{0,10})\s+(?P<rest>\S.*?)\s+(?P<logical>Active|Down|Init\w*|"
    r"Armed)\s+(?P<physical>LinkUp|Polling|Disabled|Sleep|Training|\w*[Rr]ecovery)\s*$"
)
_SPEED_ALONE = re.compile(r"(?:(?:sdr|ddr|qdr|fdr10|fdr|edr|hdr|ndr|xdr|N/A|-)\b\s*)")


@dataclass(slots=True)
class _Reader:
    """Reads rows under the heading."""

    source: Source
    table: bool = False

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return the state of a port."""
        if _HEAD.match(text):
            self.table = True
            return READ
        row = _ROW.match(text) if self.table else None
        if not row:
            return READ if self.table and _RULE.match(text) else None
        evidence, logical = self.source.evidence(text, number), state(row["logical"])
        if logical is PortState.INIT:
            return (
                AdapterPort(
                    adapter=row["port"], state=logical,
                    physical_state=physical(row["physical"]),
                    link_layer=LinkLayer.INFINIBAND, host=self.source.host, evidence=evidence,
                ),
            )  # fmt: skip
        named = not _SPEED_ALONE.match(row["rest"])
        down = logical is not PortState.ACTIVE
        return (
            Interface(
                interface=row["port"], up=not down, kind="switch port",
                enabled=row["physical"] != "Disabled",
                reason="no link" if down and named else "",
                host=self.source.host, evidence=evidence,
            ),
        )  # fmt: skip

    def end(self) -> Iterable[Fact]:
        """Forget the heading."""
        self.table = False
        return READ


onyx = Parser(
    tool="InfiniBand switch ports",
    marks=("Logical port state",),
    reader=_Reader,
    rank=34,
    longest=1024,
)
