"""``ibdiagnet2.db_csv``: the tables of the fabric, between ``START_NAME`` and ``END_NAME``.

Its numbers are those of the subnet's own records: widths and speeds are bits, states are codes.
Nodes come first, so ports and cables get their names. An SM database dump of UFM has the shape
as well.
"""

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from weft.observe.facts.base import Evidence, Fact, PhysicalState, PortState
from weft.observe.facts.interfaces import Counter
from weft.observe.facts.subnet import FabricLink, FabricNode, SubnetManager
from weft.observe.parser import READ, Parser, Source
from weft.observe.parsers._ib_counters import kernel_name, saturated
from weft.observe.parsers._values import integer, lane_rate

_MOST = 400_000
"""Of nodes and of ports: the largest subnets have 48,000 addresses."""
_STARTS, _ENDS = "START_", "END_"
_TITLE = re.compile(r"# (?:This database file was|Running version|Running command|Timestamp)")
_KINDS = {1: "CA", 2: "Switch", 3: "Router"}
_STATES = {1: PortState.DOWN, 2: PortState.INIT, 3: PortState.ARMED, 4: PortState.ACTIVE}
_PHYSICAL = {
    1: PhysicalState.SLEEP,
    2: PhysicalState.POLLING,
    3: PhysicalState.DISABLED,
    4: PhysicalState.TRAINING,
    5: PhysicalState.LINK_UP,
    6: PhysicalState.ERROR_RECOVERY,
}
_LANES = {1: 1, 2: 4, 4: 8, 8: 12, 16: 2}
_SPEEDS = {
    1: "SDR", 2: "DDR", 4: "QDR", 1 << 8: "FDR", 1 << 9: "EDR", 1 << 10: "HDR",
    1 << 11: "NDR", 1 << 12: "XDR", 1 << 16: "FDR10",
}  # fmt: skip
_MASTERS = {0: "not active", 1: "discovering", 2: "standby", 3: "master"}
_SIZED = ("Extended", "Ext")

Row = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _Port:
    """What a port's record says, for the cable that is named later."""

    lid: int | None
    state: PortState
    physical: PhysicalState
    lanes: int | None = None
    lane_bytes_per_s: float | None = None


_NO_PORT = _Port(None, PortState.UNKNOWN, PhysicalState.UNKNOWN)


@dataclass(slots=True)
class _Reader:
    """Reads tables, remembering nodes and ports for those that point to them."""

    source: Source
    section: str = ""
    columns: tuple[str, ...] = ()
    nodes: dict[str, tuple[str, bool]] = field(default_factory=dict)
    ports: dict[tuple[str, int], _Port] = field(default_factory=dict)

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return the facts of a line."""
        bare = text.strip()
        if bare.startswith(_STARTS) and bare[len(_STARTS) :].replace("_", "").isalnum():
            self.section, self.columns = bare[len(_STARTS) :], ()
            return READ
        if bare == f"{_ENDS}{self.section}":
            self.section = ""
            return READ
        if not self.section or "," not in bare:
            return READ if _TITLE.match(bare) else None
        return self._row(bare, self.source.evidence(text, number))

    def _row(self, text: str, evidence: Evidence) -> Sequence[Fact]:
        """Return the facts of a line of a table; its first names the columns."""
        cells = tuple(next(csv.reader([text], skipinitialspace=True), []))
        if not self.columns:
            self.columns = cells
            return READ
        read = _SECTIONS.get(self.section)
        if read is None or len(cells) != len(self.columns):
            return READ
        row = dict(zip(self.columns, cells, strict=True))
        return tuple(read(self, row, evidence))

    def end(self) -> Iterable[Fact]:
        """Keep nothing to the end."""
        return READ


def _of_node(row: Row) -> str:
    return row.get("NodeGUID") or row.get("NodeGuid") or ""


def _port_number(row: Row) -> int | None:
    return integer(row.get("PortNum") or row.get("PortNumber"))


def _nodes(reader: _Reader, row: Row, evidence: Evidence) -> Iterator[Fact]:
    kind = _KINDS.get(integer(row.get("NodeType")) or 0, "")
    guid, name = _of_node(row), row.get("NodeDesc", "")
    if kind and len(reader.nodes) < _MOST:
        reader.nodes[guid] = (name, kind == "Switch")
        ports = integer(row.get("NumPorts"))
        yield FabricNode(kind=kind, guid=guid, name=name, ports=ports, evidence=evidence)


def _ports(reader: _Reader, row: Row, evidence: Evidence) -> Iterator[Fact]:
    guid, number = _of_node(row), _port_number(row)
    if number is None or len(reader.ports) >= _MOST:
        return
    port = _Port(
        lid=integer(row.get("LID")),
        state=_STATES.get(integer(row.get("PortState")) or 0, PortState.UNKNOWN),
        physical=_PHYSICAL.get(integer(row.get("PortPhyState")) or 0, PhysicalState.UNKNOWN),
    )
    if port.state is not PortState.DOWN:  # what it tried last is no speed of a link
        speed = _SPEEDS.get(integer(row.get("LinkSpeedActv")) or 0, "")
        lanes = _LANES.get(integer(row.get("LinkWidthActv")) or 0)
        port = replace(port, lanes=lanes, lane_bytes_per_s=lane_rate(speed))
    reader.ports[guid, number] = port
    # Port 0 of a switch is the switch itself; a cable whose end is up stands among the links.
    if number and port.state in {PortState.DOWN, PortState.INIT}:
        yield _link(reader, (guid, number), ("", None), evidence)


def _links(reader: _Reader, row: Row, evidence: Evidence) -> Iterator[Fact]:
    here, there = (
        (row.get(f"NodeGuid{end}", ""), integer(row.get(f"PortNum{end}"))) for end in (1, 2)
    )
    if here[1] is not None:
        yield _link(reader, (here[0], here[1]), there, evidence)


def _link(
    reader: _Reader, here: tuple[str, int], there: tuple[str, int | None], evidence: Evidence
) -> FabricLink:
    port = reader.ports.get(here, _NO_PORT)
    peer = reader.ports.get((there[0], there[1] or 0), _NO_PORT)
    return FabricLink(
        guid=here[0],
        name=reader.nodes.get(here[0], ("", False))[0],
        port=here[1],
        lid=port.lid,
        state=port.state,
        physical_state=port.physical,
        lanes=port.lanes,
        lane_bytes_per_s=port.lane_bytes_per_s,
        peer_guid=there[0],
        peer_name=reader.nodes.get(there[0], ("", False))[0],
        peer_port=there[1],
        peer_lid=peer.lid,
        evidence=evidence,
    )


def _counters(reader: _Reader, row: Row, evidence: Evidence) -> Iterator[Fact]:
    """Return the counters that are not zero, the wider of two that count one thing."""
    guid = _of_node(row)
    name, switch = reader.nodes.get(guid, ("", False))
    seen: dict[str, int] = {}
    for column, cell in row.items():
        short = column
        for end in _SIZED:
            short = short.removesuffix(end)
        counter, value = kernel_name(short), integer(cell)
        if value and counter != short:
            seen[counter] = max(value, seen.get(counter, 0))
    for counter, value in seen.items():
        yield Counter(
            where=name or guid,
            port=_port_number(row),
            name=counter,
            value=value,
            on_switch=switch,
            saturated=saturated(counter, value),
            evidence=evidence,
        )


def _managers(reader: _Reader, row: Row, evidence: Evidence) -> Iterator[Fact]:
    del reader
    state = _MASTERS.get(integer(row.get("State") or row.get("SmState")) or -1, "")
    if state:
        yield SubnetManager(
            state=state,
            lid=integer(row.get("LID")),
            guid=row.get("PortGUID", "") or _of_node(row),
            priority=integer(row.get("Priority")),
            evidence=evidence,
        )


_SECTIONS: dict[str, Callable[[_Reader, Row, Evidence], Iterator[Fact]]] = {
    "NODES": _nodes,
    "PORTS": _ports,
    "LINKS": _links,
    "PM_INFO": _counters,
    "SM_INFO": _managers,
    "SMS": _managers,
}
ibdiagnet_csv = Parser(
    tool="ibdiagnet db_csv",
    marks=(_STARTS, _ENDS, "0x", "# This database"),
    reader=_Reader,
    rank=62,
    longest=1 << 14,
)
