"""UFM, the manager of InfiniBand fabrics: its event log, and what its REST interface answers.

Events of both kinds are sentences with an object; ports and links become those of the fabric.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from weft.observe.facts import (
    CableEvent,
    FabricCheck,
    FabricLink,
    Fact,
    LinkEvent,
    Message,
    Moment,
)
from weft.observe.moments import moment
from weft.observe.parser import Parser, Source
from weft.observe.parsers._values import integer, lane_rate, physical, state
from weft.observe.patterns import Line, pattern, table

_MOST = 50_000
_ENDS = re.compile(
    r"\((?P<kind>Switch|Computer|Gateway|Router|HCA): ?(?P<where>[^()]{1,160}?)\)\s?"
    r"(?P<guid>[0-9a-f]{16})?(?::(?P<port>\d{1,4}))?"
)
_OBJECT = re.compile(r"(?:Switch|Computer|Gateway|Router): (?P<name>[^/\]]{1,120}?)(?: /|\]|$)")
_PORT = re.compile(r"/ (?P<port>\d{1,4})(?:\]|\s|$)")
_LINK_DOWN = re.compile(
    r"[Ll]ink (?:went|is) down|port (?:state )?.{0,20}\bdown\b", re.IGNORECASE
)
_LINK_UP = re.compile(r"[Ll]ink (?:is|went) up", re.IGNORECASE)
_GONE = re.compile(
    r"\bis Down\b|(?:Switch|Node|Host|Device|Computer) .{0,120}(?:down|unreachable|"
    r"disappeared)|non-responsive|not responding"
)
_ERRORS = re.compile(
    r"(?P<what>symbol err\w*|link recover\w*|link error recovery|link downed|"
    r"port receive (?:remote physical )?errors?|(?:local )?link integrity\w*|"
    r"excessive buffer\w*|(?:effective|raw|symbol) BER|high BER|bit error rate)",
    re.IGNORECASE,
)
_MODULE = re.compile(
    r"\bmodule (?:status )?.{0,30}(?:fault|error|failed|temperature)|"
    r"cable .{0,40}(?:fault|error|temperature|failed)",
    re.IGNORECASE,
)
_TROUBLE = frozenset({"WARNING", "MINOR", "CRITICAL"})
_LANES = re.compile(r"(\d{1,2})x", re.IGNORECASE)
_RATES = {"2.5": "SDR", "5.0": "DDR", "10.0": "QDR"}


def _event(told: str, path: str, text: str, severity: str, source: "Line | _Row") -> list[Fact]:
    """Return what an event states of links, devices and their errors."""
    ends = [one for one in _ENDS.finditer(told) if one["where"]]
    where = ends[0]["where"] if ends else _object(path)
    if _LINK_DOWN.search(told) or _LINK_UP.search(told):
        return [
            LinkEvent(
                interface=one, up=not _LINK_DOWN.search(told),
                moment=source.moment, evidence=source.evidence,
            )
            for one in ([end["where"] for end in ends] or [where])
        ]  # fmt: skip
    if severity.upper() not in _TROUBLE:
        return []
    if _MODULE.search(told):
        return [
            CableEvent(
                device=where, module=None, event=f"error: {told.strip()[:120]}",
                moment=source.moment, evidence=source.evidence,
            )
        ]  # fmt: skip
    errors = _ERRORS.search(told) or _ERRORS.search(text)
    if errors:
        return [
            FabricCheck(
                stage="UFM", warnings=1, evidence=source.evidence,
                text=f"{where}: {errors['what']} count exceeds its threshold: {told[:160]}",
            )
        ]  # fmt: skip
    return [
        Message(
            software="UFM", level="error" if _GONE.search(told) else "warning",
            text=f"{where}: {told.strip()[:200]}", moment=source.moment,
            evidence=source.evidence,
        )
    ]  # fmt: skip


def _object(path: str) -> str:
    named, port = _OBJECT.search(path), _PORT.search(path)
    name = named["name"].strip() if named else path.strip("[] ")[:80]
    return f"{name}:{port['port']}" if port else name


def _logged(found: re.Match[str], line: Line) -> Sequence[Fact]:
    path = found["path"]
    told = found["told"]
    return _event(told, path, found["object"], found["severity"], line)


class _Row:
    """An event of the REST interface, with what a line has: evidence and time."""

    def __init__(self, row: dict[str, Any], source: Source, number: int) -> None:
        """Write the event as one line."""
        stamp = str(row.get("timestamp", ""))
        said = f"{stamp} {row.get('severity')} {row.get('name')}: {row.get('description')}"
        self.evidence = source.evidence(said, number)
        self.moment: Moment | None = moment(said)


def _document(value: object, source: Source, number: int) -> Iterable[Fact] | None:
    rows = [one for one in value[:_MOST] if isinstance(one, dict)] if isinstance(
        value, list) else []  # fmt: skip
    if not rows:
        return None
    if {"severity", "description", "object_name", "category"} <= rows[0].keys():
        return [fact for row in rows for fact in _told(row, source, number)]
    if {"logical_state", "physical_state", "systemID"} <= rows[0].keys():
        return [_port(row, source, number) for row in rows]
    return None


def _told(row: dict[str, Any], source: Source, number: int) -> Iterator[Fact]:
    path = str(row.get("object_path", "")) or str(row.get("object_name", ""))
    said = _Row(row, source, number)
    yield from _event(
        str(row.get("description", "")), path, str(row.get("name", "")),
        str(row.get("severity", "")), said,
    )  # fmt: skip


def _port(row: dict[str, Any], source: Source, number: int) -> FabricLink:
    said = (
        f"{row.get('system_name')} port {row.get('number')}: {row.get('logical_state')}, "
        f"{row.get('physical_state')}, {row.get('active_width')} {row.get('active_speed')}"
    )
    lanes, could = _lanes(row.get("active_width")), _lanes(row.get("supported_width"))
    rate, best = _rate(row.get("active_speed")), _rate(row.get("supported_speed"))
    return FabricLink(
        guid=str(row.get("guid", "")), name=str(row.get("system_name", "")),
        port=integer(row.get("number")) or 0, lid=integer(row.get("lid")),
        state=state(str(row.get("logical_state", ""))),
        physical_state=physical(str(row.get("physical_state", ""))),
        lanes=lanes, lane_bytes_per_s=rate,
        could_be_lanes=could if could and lanes and could > lanes else None,
        could_be_lane_bytes_per_s=best if best and rate and best > rate else None,
        peer_guid=_named(row.get("peer_node_guid") or row.get("peer_guid")),
        peer_name=_named(row.get("peer_node_name") or row.get("peer_node_description")),
        peer_port=integer(str(row.get("peer", "")).rpartition("_")[2]),
        peer_lid=integer(row.get("peer_lid")), evidence=source.evidence(said, number),
    )  # fmt: skip


def _named(value: object) -> str:
    return "" if value in (None, "N/A", "") else str(value)


def _lanes(value: object) -> int | None:
    """Return the most lanes that are named."""
    named = value if isinstance(value, list) else [value]
    found = [int(one) for text in named for one in _LANES.findall(str(text))]
    return max(found, default=None)


def _rate(value: object) -> float | None:
    named = value if isinstance(value, list) else [value]
    rates = [lane_rate(_RATES.get(str(one), str(one))) for one in named]
    return max((one for one in rates if one), default=None)


ufm = Parser(
    tool="UFM",
    marks=("CRITICAL [", "WARNING [", "MINOR [", "INFO ["),
    reader=table(
        *(
            pattern(
                f"{severity} [",
                rf"(?P<severity>{severity}) \[(?P<category>[A-Z][A-Za-z_ /]{{2,40}})\] "
                r"(?P<object>(?:IBPort|Port|Link|Switch|Computer|Gateway|Grid|Site|Module|HCA|"
                r"Device|Host|Cable|Node)\b.{0,20}?) \[(?P<path>.{1,300}?)\]"
                r"(?: \[.{1,160}?\]){0,3}:? (?P<told>.{1,600})",
                _logged,
            )
            for severity in ("CRITICAL", "WARNING", "MINOR", "INFO")
        )
    ),
    document=_document,
    rank=48,
)  # fmt: skip
