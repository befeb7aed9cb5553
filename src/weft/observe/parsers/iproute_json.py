"""``ip -j`` and ``rdma -j``: the same tools as JSON, a list of objects each."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from weft.observe.facts.adapters import AdapterPort
from weft.observe.facts.base import Fact, LinkLayer
from weft.observe.facts.interfaces import Counter, Interface, Route
from weft.observe.parser import Parser, Source
from weft.observe.parsers._values import integer, physical, state

_MOST = 50_000


def _document(value: object, source: Source, number: int) -> Iterable[Fact] | None:
    if not isinstance(value, list) or not value:
        return None
    rows = [one for one in value[:_MOST] if isinstance(one, dict)]
    read = _sort(rows[0]) if rows else None
    if read is None:
        return None
    return [fact for row in rows for fact in read(row, source, number)]


def _sort(
    row: dict[str, Any],
) -> "Callable[[dict[str, Any], Source, int], Iterator[Fact]] | None":
    if {"ifname", "flags", "mtu"} <= row.keys():
        return _interface
    if {"dst", "dev"} <= row.keys():
        return _route
    if {"ifname", "port", "physical_state"} <= row.keys():
        return _port
    if {"ifname", "port"} <= row.keys() and "ifindex" not in row:
        return _counters
    return None


def _interface(row: dict[str, Any], source: Source, number: int) -> Iterator[Fact]:
    flags = row["flags"] if isinstance(row["flags"], list) else []
    held = row.get("addr_info")
    addresses = tuple(
        f"{one.get('local')}/{one.get('prefixlen')}"
        for one in (held if isinstance(held, list) else [])
        if isinstance(one, dict) and one.get("local")
    )
    name = str(row["ifname"])
    yield Interface(
        interface=name,
        up="UP" in flags,
        carrier="LOWER_UP" in flags,
        mtu_bytes=integer(row["mtu"]),
        addresses=addresses,
        kind=str(row.get("link_type", "")),
        host=source.host,
        evidence=source.evidence(f"{name}: {','.join(map(str, flags))} {row['mtu']}", number),
    )


def _route(row: dict[str, Any], source: Source, number: int) -> Iterator[Fact]:
    yield Route(
        destination=str(row["dst"]),
        interface=str(row["dev"]),
        via=str(row.get("gateway", "")),
        metric=integer(row.get("metric")),
        source=str(row.get("prefsrc", "")),
        host=source.host,
        evidence=source.evidence(f"{row['dst']} dev {row['dev']}", number),
    )


def _port(row: dict[str, Any], source: Source, number: int) -> Iterator[Fact]:
    infiniband = "sm_lid" in row or "subnet_prefix" in row
    ethernet = "netdev" in row and not infiniband
    yield AdapterPort(
        adapter=str(row["ifname"]),
        port=integer(row["port"]),
        state=state(str(row.get("state", ""))),
        physical_state=physical(str(row["physical_state"])),
        link_layer=LinkLayer.INFINIBAND
        if infiniband
        else LinkLayer.ETHERNET
        if ethernet
        else LinkLayer.UNKNOWN,
        lid=integer(row.get("lid")),
        sm_lid=integer(row.get("sm_lid")),
        interface=str(row.get("netdev", "")),
        host=source.host,
        evidence=source.evidence(f"{row['ifname']}/{row['port']} {row.get('state')}", number),
    )


def _counters(row: dict[str, Any], source: Source, number: int) -> Iterator[Fact]:
    for name, value in row.items():
        if name not in {"ifname", "port"} and isinstance(value, int):
            yield Counter(
                where=str(row["ifname"]),
                port=integer(row["port"]),
                name=name,
                value=value,
                host=source.host,
                evidence=source.evidence(
                    f"{row['ifname']}/{row['port']} {name} {value}", number
                ),
            )


iproute_json = Parser(tool="ip -j, rdma -j", document=_document)
