"""SONiC: one config_db.json a switch, from the ports that it really has."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from json.encoder import encode_basestring_ascii as _quoted
from math import log2
from string import ascii_lowercase
from typing import Any, Final

from weft.generate.lossless import Labels, Marking, Pause
from weft.generate.plan import Feature, Plan
from weft.generate.platform import EGRESS_BYTES, Platform, group_reserve, platforms
from weft.generate.router import OWN_ROUTES, PREFIX, Router, Vrf, routers, underlay_of
from weft.generate.site_text import SiteText, site_text
from weft.generate.target import Files, Proof, Target
from weft.generate.underlay import Underlay
from weft.generate.wiring import Wired
from weft.network.network import layout

Table = dict[str, dict[str, Any]]
MAP: Final = "AI"
QUEUES: Final = 8
DSCPS: Final = 64
ROLES: Final = ("ToRRouter", "LeafRouter", "SpineRouter")
"""By tier. SONiC seeds the hash of ECMP by them: 0, 10, 25, so tiers never share a seed.
[sonic-buildimage, dockers/docker-orchagent/switch.json.j2]"""
GROUP: Final = "FABRIC"
ACROSS: Final = "ACROSS"
"""Peers in other groups, and what they are told."""
OWN: Final = "OWN"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Case:
    """One plan, with what all its switches share."""

    plan: Plan
    hardware: Platform
    rate: int
    """Gb/s of a port."""

    @property
    def split(self) -> int:
        """Ports of one cage."""
        return self.hardware.split(self.rate)

    @property
    def lanes(self) -> int:
        """Of one port."""
        return self.hardware.lanes // self.split

    def port(self, number: int) -> str:
        return f"Ethernet{number * self.lanes}"

    def alias(self, number: int) -> str:
        cage, place = divmod(number, self.split)
        return f"etp{cage + 1}" + ("" if self.split == 1 else ascii_lowercase[place])


def _files(plan: Plan) -> Files:
    case = _Case(
        plan=plan, hardware=platforms()[layout(plan.cluster).switch], rate=_rate(plan)
    )  # fmt: skip
    shared = _quality(case)
    for router in routers(plan):
        switch = router.switch
        tables = _device(case, router) | _ports(case, router) | _routing(case, router)
        tables |= shared | _port_quality(case, switch)
        site = site_text(plan, router, "mgmt")
        if site is not None:
            tables |= _site(site, tables)
        yield f"{switch.name}/config_db.json", _dump(tables)


def _rate(plan: Plan) -> int:
    return int(plan.link.rate_gbit_per_s.number())


def _dump(tables: Mapping[str, Table]) -> str:
    """Return the tables as ``json.dumps(..., indent=1)`` writes them, several times as fast."""
    parts = [
        f" {_quoted(name)}: {{\n" + ",\n".join(_rows(tables[name])) + "\n }"
        for name in sorted(tables)
        if tables[name]
    ]
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _rows(table: Table) -> Iterator[str]:
    for key, fields in table.items():
        inside = ",\n".join(
            f"   {_quoted(name)}: {_value(one)}" for name, one in fields.items()
        )
        yield f"  {_quoted(key)}: " + (f"{{\n{inside}\n  }}" if inside else "{}")


def _value(one: str | list[str]) -> str:
    if isinstance(one, str):
        return _quoted(one)
    return "[\n" + ",\n".join(f"    {_quoted(item)}" for item in one) + "\n   ]"


def _device(case: _Case, router: Router) -> dict[str, Table]:
    switch = router.switch
    return {
        "DEVICE_METADATA": {
            "localhost": {
                "hostname": switch.name,
                "hwsku": case.hardware.breakouts[case.rate].hwsku,
                "platform": case.hardware.platform,
                "type": ROLES[switch.tier],
                "bgp_asn": str(router.asn),
                "buffer_model": "traditional",
                "docker_routing_config_mode": "unified",
                "frr_mgmt_framework_config": "true",
            }
        },
        "SWITCH_HASH": {"GLOBAL": {"ecmp_hash": _HASHED}},
    }


def _site(site: SiteText, tables: Mapping[str, Table]) -> dict[str, Table]:
    """Return the tables around the fabric, and those of BGP with what the site wants of it."""
    tacacs = site.protocol == "tacacs"
    servers = {
        one: {"priority": str(number), "vrf": "mgmt"}
        for number, one in enumerate(site.servers, 1)
    }
    globals_ = {
        key: {**row, "graceful_shutdown": str(site.drained).lower()}
        for key, row in tables["BGP_GLOBALS"].items()
    }
    groups = {
        key: {**row, "bfd": str(site.bfd).lower()}
        for key, row in tables["BGP_PEER_GROUP"].items()
    }
    port: Table = {f"eth0|{site.address}": {"gwaddr": site.gateway}} if site.address else {}
    return {
        "MGMT_PORT": {"eth0": {"alias": "eth0", "admin_status": "up"}},
        "MGMT_INTERFACE": port,
        "MGMT_VRF_CONFIG": {"vrf_global": {"mgmtVrfEnabled": "true"}},
        "NTP": {"global": {"vrf": "mgmt"}},
        "NTP_SERVER": {one: {"iburst": "on"} for one in site.ntp},
        "SYSLOG_SERVER": {one: {"vrf": "mgmt"} for one in site.syslog},
        "AAA": {"authentication": {
            "login": f"{'tacacs+' if tacacs else 'radius'},local", "failthrough": "True"}},
        ("TACPLUS" if tacacs else "RADIUS"): {"global": {"passkey": site.secret}},
        ("TACPLUS_SERVER" if tacacs else "RADIUS_SERVER"): servers,
        "SNMP_USER": _snmp(site),
        "GNMI": {"gnmi": {"port": str(site.gnmi_port), "client_auth": "true",
                          "vrf": "mgmt"}} if site.gnmi_port else {},
        "LLDP": {"GLOBAL": {"enabled": "true"}},
        "BANNER_MESSAGE": {"global": {"state": "enabled", "login": site.banner}},
        "BGP_GLOBALS": globals_,
        "BGP_PEER_GROUP": groups,
    }  # fmt: skip


def _snmp(site: SiteText) -> Table:
    if not site.snmp_user:
        return {}
    return {site.snmp_user: {
        "SNMP_USER_TYPE": "Priv", "SNMP_USER_PERMISSION": "RO",
        "SNMP_USER_AUTH_TYPE": "SHA", "SNMP_USER_AUTH_PASSWORD": site.snmp_auth,
        "SNMP_USER_ENCRYPTION_TYPE": "AES", "SNMP_USER_ENCRYPTION_PASSWORD": site.snmp_priv,
    }}  # fmt: skip


_HASHED: Final = ["DST_IP", "SRC_IP", "IP_PROTOCOL", "L4_DST_PORT", "L4_SRC_PORT"]


def _ports(case: _Case, router: Router) -> dict[str, Table]:
    link = case.plan.link
    assert link.switch_mtu_bytes is not None, "an Ethernet plan has the MTU of its switches"
    mtu, megabits = link.switch_mtu_bytes.text(), case.rate * 1000
    devices = {one.port.number: one.device for one in router.hosts}
    table: Table = {}
    neighbours: Table = {}
    for port in router.switch.ports:
        cage, place = divmod(port.number, case.split)
        far = devices.get(port.number) or case.port(port.peer_port)
        first = cage * case.hardware.stride + place * case.lanes
        table[case.port(port.number)] = {
            "alias": case.alias(port.number),
            "index": str(cage + 1),
            "subport": str(place + 1 if case.split > 1 else 0),
            "lanes": ",".join(str(lane) for lane in range(first, first + case.lanes)),
            "speed": str(megabits),
            "fec": "rs",
            "mtu": mtu,
            "admin_status": "up",
            "description": f"{port.peer} {far}",
        }
        neighbours[case.port(port.number)] = {"name": port.peer, "port": far}
    mode = {"brkout_mode": case.hardware.breakouts[case.rate].mode}
    cages = (f"Ethernet{cage * case.hardware.lanes}" for cage in range(case.hardware.cages))
    return {
        "PORT": table,
        "DEVICE_NEIGHBOR": neighbours,
        "BREAKOUT_CFG": dict.fromkeys(cages, mode),
    }


def _routing(case: _Case, router: Router) -> dict[str, Table]:
    underlay = underlay_of(case.plan)
    interfaces: Table = {}
    for link in router.hosts:
        name = case.port(link.port.number)
        of = {"vrf_name": _vrf(link.tenant)} if link.tenant else {}
        interfaces |= {name: of, f"{name}|{link.address}/{PREFIX}": {}}
    local = {"ipv6_use_link_local_only": "enable"}
    interfaces |= {case.port(one.port.number): local for one in router.fabric}
    loopback = router.loopback
    tables: dict[str, Table] = {
        "LOOPBACK_INTERFACE": {"Loopback0": {}, f"Loopback0|{loopback}/32": {}},
        "INTERFACE": interfaces,
        "VRF": {_vrf(name): {} for name, _ in router.tenants},
        **_policies(underlay, router),
    }
    for vrf in router.vrfs():
        for name, rows in _sessions(case, router, vrf).items():
            tables.setdefault(name, {}).update(rows)
    return tables


def _vrf(tenant: str) -> str:
    return f"Vrf{tenant}" if tenant else "default"


def _sessions(case: _Case, router: Router, vrf: Vrf) -> dict[str, Table]:
    """Return BGP of one VRF: peers are ports, or the far ends of a tenant's sub-interfaces."""
    underlay, name = underlay_of(case.plan), _vrf(vrf.name)
    neighbours: Table = {}
    inside: Table = {}
    for one in vrf.fabric:
        port = case.port(one.port.number)
        peer = str(one.peer_address) if vrf.tag else port
        neighbours[f"{name}|{peer}"] = {"peer_group_name": ACROSS if one.across else GROUP}
        if vrf.tag:
            inside[f"{port}.{vrf.tag}"] = {
                "vrf_name": name, "vlan": str(vrf.tag), "admin_status": "up",
            }  # fmt: skip
            inside[f"{port}.{vrf.tag}|{one.address}/{PREFIX}"] = {}
    family = f"{name}|ipv4_unicast"
    groups = [GROUP, *([ACROSS] if any(one.across for one in vrf.fabric) else ())]
    peers = {
        "peer_type": "external",
        **({} if vrf.tag else {"capability_ext_nexthop": "true"}),
        "keepalive": underlay.keepalive_s.text(), "holdtime": underlay.hold_s.text(),
    }  # fmt: skip
    block = {f"{family}|{vrf.block}": {"summary_only": "true"}} if vrf.block else {}
    return {
        "VLAN_SUB_INTERFACE": inside,
        "BGP_GLOBALS": {name: {
            "router_id": str(router.loopback), "local_asn": str(router.asn),
            "load_balance_mp_relax": "true",
        }},
        "BGP_GLOBALS_AF": {family: {"max_ebgp_paths": underlay.most_paths.text()}},
        "BGP_GLOBALS_AF_AGGREGATE_ADDR": block,
        "BGP_NEIGHBOR": neighbours,
        "ROUTE_REDISTRIBUTE": {f"{name}|connected|bgp|ipv4": {"route_map": [OWN]}},
        "BGP_PEER_GROUP": {f"{name}|{group}": peers for group in groups},
        "BGP_PEER_GROUP_AF": {
            f"{name}|{group}|ipv4_unicast": {
                "route_map_in": [GROUP], "route_map_out": [group], "admin_status": "up",
            }
            for group in groups
        },
    }  # fmt: skip


def _joined(router: Router) -> bool:
    return any(one.across for one in router.fabric)


def _policies(underlay: Underlay, router: Router) -> dict[str, Table]:
    """Return what may be announced and learned: the fabric's own addresses.

    Without a policy each way, FRR exchanges no route over eBGP [RFC 8212].
    """
    loopbacks, pool = underlay.loopbacks.text(), underlay.pool.text()
    longest = pool.rpartition("/")[2]
    maps = {
        f"{OWN}|10": {"route_operation": "permit", "match_prefix_set": OWN},
        f"{GROUP}|10": {"route_operation": "permit", "match_prefix_set": GROUP},
    }
    tables: dict[str, Table] = {
        "PREFIX_SET": {OWN: {"mode": "IPv4"}, GROUP: {"mode": "IPv4"}},
        "PREFIX": {
            f"{OWN}|5|{loopbacks}|32..32": {"action": "permit"},
            f"{OWN}|10|{pool}|{PREFIX}..32": {"action": "permit"},
            f"{GROUP}|5|{loopbacks}|32..32": {"action": "permit"},
            f"{GROUP}|10|{pool}|{longest}..32": {"action": "permit"},
        },
    }
    if _joined(router):
        maps[f"{ACROSS}|10"] = {"route_operation": "permit", "match_as_path": ACROSS}
        tables["AS_PATH_SET"] = {
            ACROSS: {"action": "permit", "as_path_set_member": [OWN_ROUTES]}
        }
    tables["ROUTE_MAP_SET"] = {key.partition("|")[0]: {} for key in maps}
    return tables | {"ROUTE_MAP": dict(maps)}


def _quality(case: _Case) -> dict[str, Table]:
    """Return the tables that are the same on every switch; none without PFC."""
    plan = case.plan
    if plan.labels is None or plan.pause is None or plan.marking is None:
        return {}
    buffers = _buffers(plan.pause, str(case.hardware.mmu_bytes), sum(group_reserve(case.lanes)))
    return _maps(plan.labels) | _schedule(plan.labels, plan.marking) | buffers


def _maps(labels: Labels) -> dict[str, Table]:
    lossless, cnp = labels.priority.whole(), labels.cnp_priority.whole()
    classes = dict.fromkeys(range(DSCPS), 0)
    classes |= {labels.dscp.whole(): lossless, labels.cnp_dscp.whole(): cnp}
    return {
        "DSCP_TO_TC_MAP": {MAP: {str(d): str(tc) for d, tc in classes.items()}},
        "TC_TO_QUEUE_MAP": {MAP: _identity(range(QUEUES))},
        "TC_TO_PRIORITY_GROUP_MAP": {
            MAP: {str(tc): str(tc if tc == lossless else 0) for tc in range(QUEUES)}
        },
        "MAP_PFC_PRIORITY_TO_QUEUE": {MAP: _identity(range(QUEUES))},
        "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP": {MAP: _identity([lossless])},
    }


def _identity(numbers: Sequence[int]) -> dict[str, str]:
    return {str(number): str(number) for number in numbers}


def _schedule(labels: Labels, marking: Marking) -> dict[str, Table]:
    weight = labels.rdma_weight.whole()
    percent = round(marking.pmax_ratio.number() * 100)
    profile = {"ecn": "ecn_all"}
    for colour in ("green", "yellow", "red"):
        profile |= {
            f"wred_{colour}_enable": "true",
            f"{colour}_min_threshold": marking.kmin_bytes.text(),
            f"{colour}_max_threshold": marking.kmax_bytes.text(),
            f"{colour}_drop_probability": str(percent),
        }
    return {
        "SCHEDULER": {
            "scheduler.rdma": {"type": "DWRR", "weight": str(weight)},
            "scheduler.other": {"type": "DWRR", "weight": str(100 - weight)},
            "scheduler.cnp": {"type": "STRICT"},
        },
        "WRED_PROFILE": {f"{MAP}_LOSSLESS": profile},
    }


def _buffers(pause: Pause, mmu: str, beside: int) -> dict[str, Table]:
    assert pause.pool_bytes is not None, "refused where the buffer is unknown"
    pool, xon = pause.pool_bytes.text(), pause.xon_bytes.text()
    rooms = {kind: one.headroom_bytes for kind, one in pause.links.items()}
    groups = {
        _group(kind): _profile(
            "ingress_lossless_pool", size=str(beside + room.whole()),
            alpha=_exponent(pause), xon=xon, xoff=room.text(),
            xon_offset=pause.xon_offset_bytes.text())
        for kind, room in (rooms or {"": pause.headroom_bytes}).items()
    }  # fmt: skip
    return {
        "BUFFER_POOL": {
            "ingress_lossless_pool": {"type": "ingress", "mode": "dynamic", "size": pool},
            "egress_lossless_pool": {"type": "egress", "mode": "dynamic", "size": mmu},
            "egress_lossy_pool": {"type": "egress", "mode": "dynamic", "size": pool},
        },
        "BUFFER_PROFILE": {
            "ingress_lossless_profile": _profile("ingress_lossless_pool", size="0", alpha="7"),
            "ingress_lossy_profile": _profile("ingress_lossless_pool", size="0", alpha="3"),
            **groups,
            "egress_lossless_profile": _profile("egress_lossless_pool", size="0", alpha="7"),
            "egress_lossy_profile": _profile(
                "egress_lossy_pool", size=str(EGRESS_BYTES), alpha="7"),
            "q_lossy_profile": _profile("egress_lossy_pool", size="0", alpha="3"),
        },
    }  # fmt: skip


def _group(kind: str) -> str:
    """Return the profile of the lossless group of a kind of link; of all, where all are alike.

    >>> _group("host"), _group("")
    ('pg_lossless_host_profile', 'pg_lossless_profile')
    """
    return f"pg_lossless_{kind}_profile" if kind else "pg_lossless_profile"


def _kinds(case: _Case, switch: Wired) -> dict[str, str]:
    """Return the kind of link of each port; none where all are planned alike."""
    assert case.plan.pause is not None, "asked with PFC alone"
    if not case.plan.pause.links:
        return {case.port(port.number): "" for port in switch.ports}
    return {case.port(port.number): switch.kind(port) for port in switch.ports}


def _exponent(pause: Pause) -> str:
    """Return alpha as dynamic_th writes it: the power of two."""
    return str(round(log2(pause.buffer_alpha.number())))


def _profile(pool: str, *, size: str, alpha: str, **more: str) -> dict[str, str]:
    return {"pool": pool, "size": size, "dynamic_th": alpha, **more}


def _port_quality(case: _Case, switch: Wired) -> dict[str, Table]:
    """Return the tables that repeat one row for every port."""
    labels, pause = case.plan.labels, case.plan.pause
    if labels is None or pause is None:
        return {}
    names = [case.port(port.number) for port in switch.ports]
    lossless, cnp = labels.priority.whole(), labels.cnp_priority.whole()
    queues: Table = {}
    buffers: Table = {}
    for queue in range(QUEUES):
        kind = "rdma" if queue == lossless else "cnp" if queue == cnp else "other"
        marked = {"wred_profile": f"{MAP}_LOSSLESS"} if queue == lossless else {}
        held = "egress_lossless_profile" if queue == lossless else "q_lossy_profile"
        for name in names:
            queues[f"{name}|{queue}"] = {"scheduler": f"scheduler.{kind}", **marked}
            buffers[f"{name}|{queue}"] = {"profile": held}
    groups = {f"{name}|0": {"profile": "ingress_lossy_profile"} for name in names}
    kinds = _kinds(case, switch)
    groups |= {f"{name}|{lossless}": {"profile": _group(kinds[name])} for name in names}
    lengths = {kind: one.cable_m.text() for kind, one in pause.links.items()}
    lengths = lengths or {"": pause.cable_m.text()}
    return {
        "PORT_QOS_MAP": {
            **{name: _port_maps(lossless) for name in names},
            "global": {"dscp_to_tc_map": MAP},
        },
        "BUFFER_PORT_INGRESS_PROFILE_LIST": _each(
            names, {"profile_list": ["ingress_lossless_profile"]}
        ),
        "BUFFER_PORT_EGRESS_PROFILE_LIST": _each(
            names, {"profile_list": ["egress_lossless_profile", "egress_lossy_profile"]}
        ),
        "CABLE_LENGTH": {"AZURE": {name: f"{lengths[kinds[name]]}m" for name in names}},
        "QUEUE": queues,
        "BUFFER_QUEUE": buffers,
        "BUFFER_PG": groups,
        "PFC_WD": _watchdogs(pause, names),
    }


def _each(names: Sequence[str], row: dict[str, list[str]]) -> Table:
    return dict.fromkeys(names, row)


def _port_maps(lossless: int) -> dict[str, str]:
    return {
        "dscp_to_tc_map": MAP,
        "tc_to_queue_map": MAP,
        "tc_to_pg_map": MAP,
        "pfc_to_queue_map": MAP,
        "pfc_to_pg_map": MAP,
        "pfc_enable": str(lossless),
        "pfcwd_sw_enable": str(lossless),
    }


def _watchdogs(pause: Pause, names: Sequence[str]) -> Table:
    row = {
        "action": pause.watchdog_action.text(),
        "detection_time": pause.watchdog_detection_ms.text(),
        "restoration_time": pause.watchdog_restoration_ms.text(),
    }
    table: Table = {"GLOBAL": {"POLL_INTERVAL": pause.watchdog_poll_ms.text()}}
    return table | dict.fromkeys(names, row)


def _refuses(plan: Plan) -> str | None:
    switch, rate = layout(plan.cluster).switch, _rate(plan)
    known = platforms().get(switch)
    if known is None:
        return (
            f"sonic knows the lanes of {', '.join(platforms())}, not those of {switch}; it "
            "needs platform, cages, lanes and breakout modes from its platform.json"
        )
    if rate not in known.breakouts:
        able = ", ".join(f"{one}" for one in known.breakouts)
        return f"sonic knows the hwsku of {switch} with ports of {able} Gb/s, not of {rate}"
    return None


sonic = Target(
    title="SONiC: config_db.json of every switch",
    supports=frozenset({Feature.IP, Feature.PFC, Feature.PLANES, Feature.MESH, Feature.RACK}),
    needs=frozenset({Feature.IP}),
    refuses=_refuses,
    files=_files,
    applied="merge patch: `config load config_db.json`, then `config save`. It is no whole "
    "configuration: `config reload` and `config replace` of it remove what the site has.",
    proofs={"SWITCH/config_db.json": Proof.SCHEMA},
)
