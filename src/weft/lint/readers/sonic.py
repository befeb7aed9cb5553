"""``config_db.json`` of SONiC. Rows that are alike become one fact with all their ports."""

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, Final

from weft.lint import facts
from weft.lint.document import Tree, whole
from weft.lint.flaws import flaw
from weft.lint.names import names
from weft.lint.part import fact
from weft.lint.reader import File, Reader, of_device
from weft.lint.sections import numbers

_TABLES: Final = frozenset(names("sonic.tables"))
_USES: Final = {
    "dscp_to_tc_map": ("DSCP_TO_TC_MAP", facts.Map.DSCP_TO_CLASS),
    "tc_to_queue_map": ("TC_TO_QUEUE_MAP", facts.Map.CLASS_TO_QUEUE),
    "tc_to_pg_map": ("TC_TO_PRIORITY_GROUP_MAP", facts.Map.CLASS_TO_GROUP),
    "pfc_to_queue_map": ("MAP_PFC_PRIORITY_TO_QUEUE", facts.Map.PAUSE_TO_QUEUE),
    "pfc_to_pg_map": ("PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", facts.Map.PAUSE_TO_GROUP),
}
"""What a port may use, with the table that holds it."""
_MAPS: Final = (*_USES.values(), ("PFC_PRIORITY_TO_QUEUE_MAP", facts.Map.PAUSE_TO_QUEUE))
_GIGABIT: Final = 1000
_TWO_PARTS: Final = 2


def _claims(file: File) -> bool:
    return any(len(_TABLES & set(tree.value)) > 1 for tree in _roots(file))


def _roots(file: File) -> Iterator[Tree]:
    for tree in file.documents:
        if isinstance(tree.value, dict):
            yield tree


def _read(file: File) -> Iterator[facts.Fact]:
    for tree in _roots(file):
        device = tree.under("DEVICE_METADATA", "localhost", "hostname").string()
        for read in _PARTS:
            yield from of_device(device or file.text.folder, read(tree))


def _alike(table: Tree) -> Iterator[tuple[list[str], str, Tree]]:
    """Yield rows ``port|number`` that are alike as one: ports, number, row."""
    groups: dict[Any, tuple[list[str], str]] = {}
    rows = table.value if isinstance(table.value, dict) else {}
    for key, row in rows.items():
        port, _, number = key.partition("|")
        if isinstance(row, dict):
            ports = port.split(",") if "," in port else (port,)
            alike: tuple[object, ...] = (number, *row, *row.values())
            try:
                groups.setdefault(alike, ([], key))[0].extend(ports)
            except TypeError:  # a value is a list
                groups.setdefault((number, str(row)), ([], key))[0].extend(ports)
    for (number, *_), (ports, key) in groups.items():
        yield ports, number, table[key]


@lru_cache(1 << 16)
def _numbers(text: str) -> tuple[int, ...]:
    """Return the numbers of ``3``, ``3-4`` or ``3,4``; a part that is none is left out."""
    return tuple(number for part in text.split(",") for number in numbers(part.strip()))


def _ports(tree: Tree) -> Iterator[facts.Fact]:
    sixes = _link_local(tree)
    told = any(part["admin_status"].string() == "up" for part in tree["PORT"].parts())
    for name, part in tree["PORT"].items():
        if not isinstance(part.value, dict):
            continue
        row = {key: str(value) for key, value in part.value.items()}
        speed = whole(row.get("speed", ""))
        status = row.get("admin_status")
        peer = row.get("description", "").split(" ")
        known = len(peer) == _TWO_PARTS
        yield facts.Port(
            at=part.at,
            name=name,
            mtu_bytes=whole(row.get("mtu", "")),
            speed_gbit=speed / _GIGABIT if speed else None,
            fec=row.get("fec", ""),
            autoneg=row.get("autoneg", ""),
            # A port that nobody brings up stays down.
            up=status == "up" if status is not None else False if told else None,
            lanes=_numbers(row.get("lanes", "")),
            alias=row.get("alias", ""),
            cage=whole(row.get("index", "")),
            peer=peer[0] if known else "",
            peer_port=peer[1] if known else "",
            link_local=None if sixes is None else name in sixes,
        )
        if "pfc_asym" in row:
            at = part["pfc_asym"].at
            key, value = f"{name}.pfc_asym", row["pfc_asym"]
            yield facts.option(at, "sonic-port", key, value)
    yield from _hardware(tree)
    yield from _bundles(tree)


def _hardware(tree: Tree) -> Iterator[facts.Fact]:
    """Read what the switch is, and by what it spreads flows."""
    sku = tree.under("DEVICE_METADATA", "localhost", "hwsku")
    if sku:
        platform = tree.under("DEVICE_METADATA", "localhost", "platform")
        yield fact(facts.Hardware, sku, name=sku, platform=platform)
    role = tree.under("DEVICE_METADATA", "localhost", "type")
    if role:
        yield fact(facts.HashSeed, role, seed=role)
    fields = tree.under("SWITCH_HASH", "GLOBAL", "ecmp_hash")
    if fields:
        names = {tree.string() for tree in fields.each()} or {fields.string()}
        inner = {name.removeprefix("INNER_") for name in names}
        yield facts.Hash(at=fields.at, layer_4="L4_SRC_PORT" in inner)


def _bundles(tree: Tree) -> Iterator[facts.Fact]:
    members: dict[str, list[str]] = {}
    for key in tree["PORTCHANNEL_MEMBER"].value or ():
        bundle, _, port = key.partition("|")
        members.setdefault(bundle, []).append(port)
    for bundle, ports in members.items():
        yield facts.Bond(at=tree["PORTCHANNEL_MEMBER"].at, name=bundle, members=tuple(ports))


def _link_local(tree: Tree) -> set[str] | None:
    """Return the ports with an IPv6 address; None where no table says anything of it."""
    rows = tree["INTERFACE"]
    if not rows or not isinstance(rows.value, dict):
        return None
    found = {
        port
        for port, row in rows.value.items()
        if isinstance(row, dict) and row.get("ipv6_use_link_local_only") == "enable"
    }
    keyed = (key.partition("|") for key in rows.value)
    return found | {port for port, _, address in keyed if ":" in address}


def _maps(tree: Tree) -> Iterator[facts.Fact]:
    for table, kind in _MAPS:
        for name, rows in tree[table].items():
            for key, value in rows.items():
                given = {"kind": kind, "table": name, "source": whole(key)}
                if given["source"] is not None and value.number() is not None:
                    yield fact(facts.Mapped, value, target=value, **given)
    for ports, _, row in _alike(tree["PORT_QOS_MAP"]):
        yield from _port_maps(tree, tuple(ports), row)


def _port_maps(tree: Tree, ports: tuple[str, ...], row: Tree) -> Iterator[facts.Fact]:
    if ports == ("global",):
        ports = ()
    for key, (table, kind) in _USES.items():
        name = _plain(row[key].string())
        if name:
            yield facts.MapUse(at=row[key].at, kind=kind, table=name, ports=ports)
            if name not in (tree[table].value or {}):
                yield facts.Wanted(at=row[key].at, what=table, name=name)
    if "dscp_to_tc_map" in row.value:
        yield facts.Trust(at=row["dscp_to_tc_map"].at, ports=ports, mode="dscp")
    elif ports:
        yield facts.Trust(at=row.at, ports=ports, mode="none")
    if "pfc_enable" in row.value or ports:
        enabled = row["pfc_enable"] if "pfc_enable" in row.value else row
        paused = _numbers(row["pfc_enable"].string())
        yield facts.Pause(at=enabled.at, ports=ports, priorities=paused)
    if "pfcwd_sw_enable" in row.value:
        queues = row["pfcwd_sw_enable"]
        yield facts.Watchdog(at=queues.at, ports=ports, queues=_numbers(queues.string()))


def _plain(name: str) -> str:
    """Return the name of a reference: ``AI``, or ``[TABLE|AI]`` of older releases."""
    return name.strip("[]").rpartition("|")[2]


def _marking(tree: Tree) -> Iterator[facts.Fact]:
    for name, row in tree["WRED_PROFILE"].items():
        ecn = row["ecn"].string()
        for colour in ("green", "yellow", "red"):
            low = row[f"{colour}_min_threshold"]
            marks = ecn == "ecn_all" or colour in ecn
            if low or colour == "green":
                yield fact(
                    facts.Marking, low or row, name=name, kmin_bytes=low,
                    ecn=marks and row[f"wred_{colour}_enable"].string() != "false",
                    kmax_bytes=row[f"{colour}_max_threshold"],
                    pmax_percent=row[f"{colour}_drop_probability"],
                )  # fmt: skip
    for name, row in tree["SCHEDULER"].items():
        strict = row["type"].string() == "STRICT"
        yield fact(facts.Scheduler, row, name=name, strict=strict, weight=row["weight"])
    for ports, places, row in _alike(tree["QUEUE"]):
        uses = {"marking": row["wred_profile"], "scheduler": row["scheduler"]}
        names = {name: _plain(part.string()) for name, part in uses.items()}
        for queue in _numbers(places):
            yield fact(facts.QueueUse, row, ports=tuple(ports), queue=queue, **names)
        for name, table in (("marking", "WRED_PROFILE"), ("scheduler", "SCHEDULER")):
            if uses[name] and names[name] not in (tree[table].value or {}):
                yield facts.Wanted(at=uses[name].at, what=table, name=names[name])


def _buffers(tree: Tree) -> Iterator[facts.Fact]:
    for name, row in tree["BUFFER_POOL"].items():
        yield fact(
            facts.BufferPool, row, name=name, direction=row["type"], size_bytes=row["size"],
            headroom_bytes=row["xoff"],
        )  # fmt: skip
    for name, row in tree["BUFFER_PROFILE"].items():
        pool = _plain(row["pool"].string())
        yield fact(
            facts.BufferProfile, row, name=name, pool=pool, size_bytes=row["size"],
            xoff_bytes=row["xoff"], xon_bytes=row["xon"], alpha_exponent=row["dynamic_th"],
            static_bytes=row["static_th"],
        )  # fmt: skip
        if pool not in (tree["BUFFER_POOL"].value or {}):
            yield facts.Wanted(at=row.at, what="BUFFER_POOL", name=pool)
    for table, ingress in (("BUFFER_PG", True), ("BUFFER_QUEUE", False)):
        for ports, places, row in _alike(tree[table]):
            profile = _plain(row["profile"].string())
            given = {"ports": tuple(ports), "profile": profile, "ingress": ingress}
            for group in _numbers(places):
                yield fact(facts.GroupUse, row, group=group, **given)
            if profile not in (tree["BUFFER_PROFILE"].value or {}) and profile != "NULL":
                yield facts.Wanted(at=row.at, what="BUFFER_PROFILE", name=profile)
    yield from _cables(tree)


def _cables(tree: Tree) -> Iterator[facts.Fact]:
    for rows in tree["CABLE_LENGTH"].parts():
        by_length: dict[str, list[str]] = {}
        for port, value in rows.items():
            by_length.setdefault(value.string(), []).append(port)
        for length, ports in by_length.items():
            meters, part = whole(length.removesuffix("m")), rows[ports[0]]
            if meters is not None:
                yield facts.CableLength(at=part.at, ports=tuple(ports), length_m=meters)


def _watchdog(tree: Tree) -> Iterator[facts.Fact]:
    poll = tree.under("PFC_WD", "GLOBAL", "POLL_INTERVAL")
    if poll:
        yield fact(facts.Watchdog, poll, poll_ms=poll, queues=())
    for ports, _, row in _alike(tree["PFC_WD"]):
        if ports != ["GLOBAL"]:
            yield fact(
                facts.Watchdog, row, ports=tuple(ports), action=row["action"], poll_ms=poll,
                detection_ms=row["detection_time"], restoration_ms=row["restoration_time"],
            )  # fmt: skip


def _routing(tree: Tree) -> Iterator[facts.Fact]:
    yield from _addresses(tree)
    yield from _speaker(tree)
    yield from _neighbors(tree)
    yield from _filters(tree)


def _addresses(tree: Tree) -> Iterator[facts.Fact]:
    for table in ("INTERFACE", "LOOPBACK_INTERFACE"):
        rows = tree[table]
        for key in rows.value or ():
            port, bar, address = key.partition("|")
            if bar:
                vrf = rows[port]["vrf_name"].string() if port in rows.value else ""
                yield facts.Address(at=rows[key].at, port=port, address=address, vrf=vrf)


def _speaker(tree: Tree) -> Iterator[facts.Fact]:
    """Read the AS number, of BGP_GLOBALS where it stands there, else of the device."""
    row = tree.under("BGP_GLOBALS", "default")
    framework = tree.under("DEVICE_METADATA", "localhost", "frr_mgmt_framework_config")
    if row and framework and framework.string() == "false":
        yield flaw(framework.at, "bgp_globals_unread")
    asn = row["local_asn"].number()
    of_device = tree.under("DEVICE_METADATA", "localhost", "bgp_asn")
    if asn is None:
        row, asn = of_device, of_device.number()
    if asn is not None:
        managed = bool(tree["BGP_GLOBALS"])
        yield fact(
            facts.Speaker, row, asn=asn, router_id=row["router_id"],
            paths=tree.under("BGP_GLOBALS_AF", "default|ipv4_unicast", "max_ebgp_paths"),
            relaxed=row["load_balance_mp_relax"],
            announces=bool(tree["ROUTE_REDISTRIBUTE"]) if managed else None,
        )  # fmt: skip
        if of_device and of_device.number() != asn:
            what = "the AS number of BGP_GLOBALS"
            yield fact(facts.Wanted, of_device, what=what, name=of_device)


def _filters(tree: Tree) -> Iterator[facts.Fact]:
    """Yield what the management framework filters and announces."""
    for key, row in tree["PREFIX"].items():
        name, _, rest = key.partition("|")
        prefix, _, span = rest.partition("|")[2].partition("|")
        least, _, most = span.partition("..")
        given = {"permit": row["action"].string() != "deny", "prefix": prefix}
        span_of = {"least": whole(least), "most": whole(most)}
        yield fact(facts.PrefixRow, row, name=name, **given, **span_of)
    for key, row in tree["ROUTE_MAP"].items():
        name, permit = key.partition("|")[0], row["route_operation"].string() != "deny"
        prefixes = row["match_prefix_set"]
        yield fact(facts.MapRow, row, name=name, permit=permit, prefixes=prefixes)
    for key, row in tree["ROUTE_REDISTRIBUTE"].items():
        if "|connected|bgp|ipv4" in key:
            name = next((tree.string() for tree in row["route_map"].each()), "")
            yield facts.Announced(at=row.at, route_map=name)
    for key, row in tree["BGP_GLOBALS_AF_AGGREGATE_ADDR"].items():
        yield facts.Aggregate(at=row.at, prefix=key.rpartition("|")[2])
    for row in tree["BGP_PEER_GROUP"].parts():
        keepalive, hold = row["keepalive"], row["holdtime"]
        if keepalive.number() is not None and hold.number() is not None:
            yield fact(facts.Timers, row, keepalive_s=keepalive, hold_s=hold)


def _neighbors(tree: Tree) -> Iterator[facts.Fact]:
    shared: dict[str, tuple[str, bool, bool]] = {}
    for key, row in tree["BGP_NEIGHBOR"].items():
        if not isinstance(row.value, dict):
            continue
        vrf, _, peer = key.rpartition("|")
        if vrf not in {"", "default"}:
            continue  # a tenant's: its VRF has paths of its own
        name = str(row.value.get("peer_group_name", ""))
        if name not in shared:
            shared[name] = _group(tree, name)
        remote, extended, active = shared[name]
        if name and not tree.under("BGP_PEER_GROUP", f"default|{name}"):
            yield facts.Wanted(at=row.at, what="BGP_PEER_GROUP", name=name)
        own = tree.under("BGP_NEIGHBOR_AF", f"default|{peer}|ipv4_unicast", "admin_status")
        hop, managed = row.value.get("capability_ext_nexthop"), "|" in key
        yield facts.Neighbor(
            at=row.at,
            peer=peer,
            unnumbered=peer.startswith(("Ethernet", "PortChannel")),
            remote=str(row.value.get("asn") or row.value.get("peer_type") or remote),
            extended_nexthop=(extended if hop is None else hop == "true") if managed else None,
            active=(active or own.string() == "up") if managed else None,
        )


def _group(tree: Tree, name: str) -> tuple[str, bool, bool]:
    """Return what a peer group gives: its remote AS, extended next hop, IPv4 routes."""
    group = tree.under("BGP_PEER_GROUP", f"default|{name}")
    family = tree.under("BGP_PEER_GROUP_AF", f"default|{name}|ipv4_unicast", "admin_status")
    remote = group["asn"].string() or group["peer_type"].string()
    return remote, group["capability_ext_nexthop"].true(), family.string() == "up"


_PARTS: Final[tuple[Callable[[Tree], Iterator[facts.Fact]], ...]] = (
    _ports,
    _maps,
    _marking,
    _buffers,
    _watchdog,
    _routing,
)
sonic = Reader(title="SONiC config_db.json", claims=_claims, read=_read)
