"""What UFM's REST interface answers: events and ports of a fabric, as JSON.

An event is written as the line of the event log that tells of it, and read as that.
"""

import re
from collections.abc import Iterable
from typing import Any

from weft.observe.facts.base import Fact
from weft.observe.facts.subnet import FabricLink
from weft.observe.parser import READ, Parser, Source
from weft.observe.parsers._values import integer, lane_rate, physical, state
from weft.observe.parsers.ufm_events import ufm_events

_MOST = 50_000
_LANES = re.compile(r"(\d{1,2})x", re.IGNORECASE)
_RATES = {"2.5": "SDR", "5.0": "DDR", "10.0": "QDR"}


def _document(value: object, source: Source, number: int) -> Iterable[Fact] | None:
    listed = value[:_MOST] if isinstance(value, list) else []
    rows = [one for one in listed if isinstance(one, dict)]
    if not rows:
        return None
    if {"severity", "description", "object_name", "category"} <= rows[0].keys():
        return [fact for row in rows for fact in _event(row, source, number)]
    if {"logical_state", "physical_state", "systemID"} <= rows[0].keys():
        return [_port(row, source, number) for row in rows]
    return None


def _event(row: dict[str, Any], source: Source, number: int) -> Iterable[Fact]:
    """Read an event as the log would tell it."""
    kind = re.sub(r"\W", "", str(row.get("type", ""))) or "Event"
    path = str(row.get("object_path", "")).translate({ord("["): "(", ord("]"): ")"})
    line = (
        f"{row.get('timestamp')} [{integer(row.get('id')) or 0}] "
        f"[{integer(row.get('event_type')) or 0}] {str(row['severity']).upper()} "
        f"[{row['category']}] {kind[:20].ljust(2, '.').replace('.', '_')} [{path[:300]}]: "
        f"{row['description']}"
    )
    assert ufm_events.reader is not None
    return ufm_events.reader(source).take(line[: ufm_events.longest], number) or READ


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


ufm_answers = Parser(tool="UFM's REST interface", document=_document, rank=48)
