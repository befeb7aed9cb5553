"""``lshca``: the adapters of a host, a row each; columns that are all alike are left out."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from weft.observe.facts.adapters import AdapterInterface, AdapterPort, AdapterSeen
from weft.observe.facts.base import Fact, PhysicalState, PortState
from weft.observe.facts.pci import PcieLink
from weft.observe.parser import READ, Parser, Source
from weft.observe.parsers._values import (
    PCIE_TRANSFERS_PER_S,
    integer,
    layer,
    rate,
    state,
)

_HEAD = re.compile(r"\s*(?:PCI_addr|RDMA)\s+\|\s.{0,400}\bNet\b.{0,400}\|")
_RULE = re.compile(r"-{60,}\s*$")
_ABOUT = re.compile(r"Dev #\d+|\s(?:Desc|PN|PSID|SN|FW|Tempr|FW_Ver): ")
_WIDTH = re.compile(r"x(?P<lanes>\d{1,2}) G(?P<generation>\d)")
_DIGITS = re.compile(r"\d+")


@dataclass(slots=True)
class _Reader:
    """Reads rows under their heading."""

    source: Source
    columns: tuple[str, ...] = ()

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return the facts of a row."""
        if _HEAD.match(text):
            self.columns = tuple(one.strip() for one in text.split("|"))
            return READ
        if _RULE.match(text) or _ABOUT.match(text):
            return READ if self.columns or text.startswith("Dev #") else None
        cells = [one.strip() for one in text.split("|")]
        if not self.columns or len(cells) != len(self.columns):
            return None
        return tuple(self._row(dict(zip(self.columns, cells, strict=True)), text, number))

    def end(self) -> Iterable[Fact]:
        """Forget the heading."""
        self.columns = ()
        return READ

    def _row(self, row: dict[str, str], text: str, number: int) -> Iterable[Fact]:
        evidence, host = self.source.evidence(text, number), self.source.host
        adapter = row.get("RDMA", "")
        bus, interface = row.get("PCI_addr", ""), row.get("Net", "")
        yield AdapterSeen(
            adapter=adapter, kind=row.get("HCA_Type", ""), bus_id=bus,
            numa=integer(row.get("Numa")), host=host, evidence=evidence,
        )  # fmt: skip
        if "LnkStat" in row:
            found = _DIGITS.search(row.get("Rate", ""))
            yield AdapterPort(
                adapter=adapter, state=_state(row["LnkStat"]),
                physical_state=_physical(row["LnkStat"]),
                link_layer=layer(row.get("Link", "")), interface=interface,
                rate_bytes_per_s=rate(found[0]) if found and "*" not in row["Rate"] else None,
                host=host, evidence=evidence,
            )  # fmt: skip
        if interface and row.get("IpStat"):
            yield AdapterInterface(
                adapter=adapter, port=1, interface=interface, up=row["IpStat"].startswith("up"),
                host=host, evidence=evidence,
            )  # fmt: skip
        able = _WIDTH.search(row.get("LnkCapWidth", ""))
        runs = re.search(r"x(\d{1,2})", row.get("LnkStaWidth", ""))
        if able and runs:
            yield PcieLink(
                device=bus, name=adapter, lanes=int(runs[1]), max_lanes=int(able["lanes"]),
                max_transfers_per_s=PCIE_TRANSFERS_PER_S.get(int(able["generation"])),
                host=host, evidence=evidence,
            )  # fmt: skip


def _state(word: str) -> PortState:
    """Return a state of this tool's own short words.

    >>> _state("actv").value, _state("poll").value, _state("init").value
    ('active', 'down', 'init')
    """
    if word.startswith("actv"):
        return PortState.ACTIVE
    return PortState.DOWN if word.startswith("poll") else state(word)


def _physical(word: str) -> PhysicalState:
    return PhysicalState.POLLING if word.startswith("poll") else PhysicalState.UNKNOWN


lshca = Parser(
    tool="lshca",
    marks=(" | LnkStat ", " LnkCapWidth ", "| IpStat "),
    reader=_Reader,
    rank=27,
    longest=1024,
)
