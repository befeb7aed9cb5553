"""``config_db.json`` of a SONiC switch: QoS maps, PFC, ECN profiles, buffers, ports.

Also as ``show techsupport`` dumps the database (``dump/CONFIG_DB.json``), flat.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from weft import units
from weft.observe.facts.base import Evidence, Fact
from weft.observe.facts.interfaces import Interface
from weft.observe.facts.service_quality import (
    BufferSetting,
    DscpPriority,
    EcnSetting,
    PauseSetting,
)
from weft.observe.parser import Parser, Source
from weft.observe.parsers._values import integer

_TABLES = {
    "PORT_QOS_MAP",
    "DSCP_TO_TC_MAP",
    "WRED_PROFILE",
    "BUFFER_PROFILE",
    "PFC_WD",
    "BUFFER_PG",
}
_PERCENT = 0.01
_MEGABIT = 1e-3


def _document(value: object, source: Source, number: int) -> Iterable[Fact] | None:
    if not isinstance(value, dict):
        return None
    value = _nested(value)
    if not _TABLES & value.keys() and not {"DEVICE_METADATA", "PORT"} <= value.keys():
        return None
    evidence = source.evidence("config_db.json", number)
    return [fact for read in _READERS for fact in read(value, source, evidence)]


def _nested(value: dict[str, Any]) -> dict[str, Any]:
    """Return a dump of the database (``"PORT|Ethernet0": {"value": ...}``) like the file."""
    if not any("|" in key for key in value):
        return value
    nested: dict[str, Any] = {}
    for path, row in value.items():
        name, _, key = path.partition("|")
        held = row.get("value") if isinstance(row, dict) else None
        if key and isinstance(held, dict):
            fields = {name.rstrip("@"): one for name, one in held.items()}
            nested.setdefault(name, {})[key] = fields
    return nested


def _table(value: Mapping[str, Any], name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    table = value.get(name)
    if isinstance(table, dict):
        yield from ((key, row) for key, row in table.items() if isinstance(row, dict))


def _row_evidence(evidence: Evidence, table: str, key: str, row: object) -> Evidence:
    return Evidence(evidence.file, evidence.line, f"{table}|{key}: {row}"[:300])


def _ports(value: dict[str, Any], source: Source, at: Evidence) -> Iterator[Fact]:
    for key, row in _table(value, "PORT"):
        speed = integer(row.get("speed"))
        yield Interface(
            interface=key,
            up=row.get("admin_status") == "up" if "admin_status" in row else None,
            mtu_bytes=integer(row.get("mtu")),
            kind="switch port",
            rate_bytes_per_s=units.rate_from_gbit(speed * _MEGABIT) if speed else None,
            fec=str(row.get("fec", "")),
            host=source.host,
            evidence=_row_evidence(at, "PORT", key, row),
        )


def _pause(value: dict[str, Any], source: Source, at: Evidence) -> Iterator[Fact]:
    for key, row in _table(value, "PORT_QOS_MAP"):
        enabled = str(row.get("pfc_enable", ""))
        priorities = tuple(int(one) for one in enabled.split(",") if one.strip().isdigit())
        yield PauseSetting(
            interface=key,
            priorities=priorities,
            on_switch=True,
            host=source.host,
            evidence=_row_evidence(at, "PORT_QOS_MAP", key, row),
        )


def _maps(value: dict[str, Any], source: Source, at: Evidence) -> Iterator[Fact]:
    for key, row in _table(value, "DSCP_TO_TC_MAP"):
        classes: dict[int, list[int]] = {}
        for dscp, traffic_class in row.items():
            place, target = integer(dscp), integer(traffic_class)
            if place is not None and target is not None:
                classes.setdefault(target, []).append(place)
        for target, values in sorted(classes.items()):
            yield DscpPriority(
                interface=key,
                priority=target,
                dscp=tuple(sorted(values)),
                on_switch=True,
                host=source.host,
                evidence=_row_evidence(at, "DSCP_TO_TC_MAP", key, values),
            )


def _ecn(value: dict[str, Any], source: Source, at: Evidence) -> Iterator[Fact]:
    for key, row in _table(value, "WRED_PROFILE"):
        for colour in ("green", "yellow", "red"):
            kmin = integer(row.get(f"{colour}_min_threshold"))
            if kmin is None:
                continue
            chance = integer(row.get(f"{colour}_drop_probability"))
            yield EcnSetting(
                name=f"{key} {colour}",
                kmin_bytes=kmin,
                kmax_bytes=integer(row.get(f"{colour}_max_threshold")),
                pmax_ratio=None if chance is None else chance * _PERCENT,
                enabled=colour in str(row.get("ecn", "")) or row.get("ecn") == "ecn_all",
                host=source.host,
                evidence=_row_evidence(at, "WRED_PROFILE", key, row),
            )


def _buffers(value: dict[str, Any], source: Source, at: Evidence) -> Iterator[Fact]:
    for key, row in _table(value, "BUFFER_PROFILE"):
        alpha = integer(row.get("dynamic_th"))
        yield BufferSetting(
            name=key,
            size_bytes=integer(row.get("size")),
            xoff_bytes=integer(row.get("xoff")),
            xon_bytes=integer(row.get("xon")),
            alpha_ratio=None if alpha is None else 2.0 ** max(min(alpha, 16), -16),
            lossless="xoff" in row,
            host=source.host,
            evidence=_row_evidence(at, "BUFFER_PROFILE", key, row),
        )


_READERS = (_ports, _pause, _maps, _ecn, _buffers)
sonic_config = Parser(tool="SONiC config_db.json", document=_document)
