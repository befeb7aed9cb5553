"""ibdiagnet2.db_csv: sections of comma-separated values, whose nodes are named in the first.

Speeds and widths are bits of the PortInfo attribute (InfiniBand Architecture 14.2.5.6; ibdm
IBLinkSpeed and IBLinkWidth).
"""

import csv
from collections.abc import Iterator, Mapping
from typing import Final

from weft.inventory.values import number, whole
from weft.readers.line import Line
from weft.readers.parser import Lines, Parser
from weft.readers.scribe import Scribe
from weft.units import rate_from_gbit

_LANE_BYTES_PER_S: Final = {
    bit: rate_from_gbit(gbit)
    for bit, gbit in (
        (1, 2.5), (2, 5.0), (4, 10.0), (256, 14.0625), (512, 25.78125), (1024, 53.125),
        (2048, 106.25), (4096, 212.5), (65536, 10.3125),
    )
}  # fmt: skip
_LANES: Final = {1: 1, 2: 4, 16: 2}
"""No cable of today has 8 or 12 lanes on one port, though ports say that they support them."""
_STATES: Final = {1: "down", 2: "initializing", 3: "armed", 4: "active"}
_PHYSICAL: Final = {1: "sleep", 2: "polling", 3: "disabled", 4: "training", 5: "link_up"}
_COUNTERS: Final = {
    "LinkDownedCounter": "link_downed", "LinkErrorRecoveryCounter": "link_error_recovery",
    "SymbolErrorCounter": "symbol_errors", "PortRcvErrors": "rcv_errors",
    "PortRcvRemotePhysicalErrors": "remote_physical_errors",
    "PortXmitDiscards": "xmit_discards",
    "ExcessiveBufferOverrunErrors": "buffer_overruns", "VL15Dropped": "vl15_dropped",
    "LocalLinkIntegrityErrors": "integrity_errors", "PortXmitWait": "xmit_wait",
}  # fmt: skip
Row = Mapping[str, str]


def _read(lines: Lines, scribe: Scribe) -> None:
    sections: dict[str, list[tuple[Line, Row]]] = {}
    for section, line, row in _rows(lines):
        sections.setdefault(section, []).append((line, row))
    names = {
        row.get("NodeGUID", ""): row.get("NodeDesc", "") for _, row in _of(sections, "NODES")
    }
    able = {_end(row): row for _, row in _of(sections, "PORTS")}
    other: dict[tuple[str, str], tuple[str, str]] = {}
    for _, row in _of(sections, "LINKS"):
        ends = _end(row, "1"), _end(row, "2")
        other |= dict(zip(ends, reversed(ends), strict=True))
    for line, row in _of(sections, "PORTS"):
        guid, port = _end(row)
        if port != "0":
            peer = able.get(other.get((guid, port), ("", "")))
            _port(row, peer, line, scribe, {"switch": names.get(guid) or guid, "port": port})
    for line, row in _of(sections, "PM_INFO"):
        guid, port = _end(row)
        for name, attribute in _COUNTERS.items():
            said = row.get(name) or row.get(f"{name}Ext") or ""
            at = {"switch": names.get(guid) or guid, "port": port}
            scribe.said(f"switch_port.{attribute}", said, line, at)


def _of(sections: Mapping[str, list[tuple[Line, Row]]], name: str) -> list[tuple[Line, Row]]:
    return sections.get(name, [])


def _end(row: Row, which: str = "") -> tuple[str, str]:
    """Return the node and the port of a row, which sections spell differently."""
    guid = row.get(f"NodeGUID{which}") or row.get(f"NodeGuid{which}") or ""
    return guid, row.get(f"PortNum{which}") or row.get("PortNumber") or ""


def _rows(lines: Lines) -> Iterator[tuple[str, Line, Row]]:
    """Yield the rows of each section with its name."""
    section, titles = "", ()  # type: tuple[str, tuple[str, ...]]
    for line in lines:
        if line.text.startswith("START_"):
            section, titles = line.text.strip().removeprefix("START_"), ()
        elif line.text.startswith("END_"):
            section = ""
        elif section and line.text.strip():
            cells = next(csv.reader([line.text]))
            if titles:
                yield section, line, dict(zip(titles, cells, strict=False))
            titles = titles or tuple(cells)


def _port(
    row: Row, peer: Row | None, line: Line, scribe: Scribe, at: Mapping[str, str]
) -> None:
    """Record the state of a port, and of a link what both of its ends support."""
    state = _STATES.get(whole(row.get("PortState", "")) or 0)
    physical = _PHYSICAL.get(whole(row.get("PortPhyState", "")) or 0)
    for name, said in (("state", state), ("physical", physical)):
        if said:
            scribe.state(f"switch_port.{name}", said, line, at)
    if state != "active":
        return
    found = {"width": _largest("LinkWidthActv", row), "speed": _largest("LinkSpeedActv", row)}
    if peer is not None:
        found["width_supported"] = _largest("LinkWidthSup", row, peer)
        found["speed_supported"] = _largest("LinkSpeedSup", row, peer)
    for name, value in found.items():
        if value:
            scribe.state(f"switch_port.{name}", value, line, at)


def _largest(column: str, *ends: Row) -> float:
    """Return the largest value of a column of bits that all ends have, or 0."""
    meanings = _LANES if "Width" in column else _LANE_BYTES_PER_S
    shared = [
        value
        for bit, value in meanings.items()
        if all(_bits(end, column) & bit for end in ends)
    ]
    return float(max(shared, default=0.0))


def _bits(row: Row, column: str) -> int:
    return int(number(row.get(column, "")) or 0)


ibdiagnet_csv = Parser("ibdiagnet_csv", opens=(r"^START_[A-Z_]+\s*$",), reads=_read)
