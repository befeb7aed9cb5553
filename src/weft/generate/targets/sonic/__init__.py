"""SONiC: one config_db.json a switch, from the ports that it really has."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from json.encoder import encode_basestring_ascii as _quoted
from math import log2
from string import ascii_lowercase
from typing import Any, Final

from weft.generate.lossless import LinkRoom, Pause
from weft.generate.plan import Plan
from weft.generate.platform import EGRESS_BYTES, Platform, group_reserve, platforms
from weft.generate.router import OWN_ROUTES, PREFIX, Router, Vrf, routers, underlay_of
from weft.generate.site_text import site_text
from weft.generate.target import Files, declared
from weft.generate.template import texts_in
from weft.generate.wiring import Wired
from weft.network.network import layout

Table = dict[str, Any]
ROLES: Final = ("ToRRouter", "LeafRouter", "SpineRouter")
"""By tier. SONiC seeds the hash of ECMP by them: 0, 10, 25, so tiers never share a seed.
[sonic-buildimage, dockers/docker-orchagent/switch.json.j2]"""
GROUP: Final = "FABRIC"
ACROSS: Final = "ACROSS"
"""Peers in other groups, and what they are told."""
EACH_PORT: Final = "PORT"
"""Begins the key of a row that every port has."""


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
    hardware = platforms()[layout(plan.cluster).switch]
    case = _Case(plan=plan, hardware=hardware, rate=_rate(plan))
    shared = _lossless(case)
    for router in routers(plan):
        tables = {
            **_switch(case, router),
            **_ports(case, router),
            **_links(case, router),
            **_of_ports(case, router.switch, shared),
        }
        yield f"{router.name}/config_db.json", _dump(tables)


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
            f"   {_quoted(name)}: {_value(field)}" for name, field in fields.items()
        )
        yield f"  {_quoted(key)}: " + (f"{{\n{inside}\n  }}" if inside else "{}")


def _value(one: str | list[str]) -> str:
    if isinstance(one, str):
        return _quoted(one)
    return "[\n" + ",\n".join(f"    {_quoted(item)}" for item in one) + "\n   ]"


def _switch(case: _Case, router: Router) -> dict[str, Table]:
    """Return the tables of a switch that list no port."""
    return texts_in(
        "sonic/switch.yaml.j2", case=case, router=router, role=ROLES[router.switch.tier],
        underlay=underlay_of(case.plan), prefix=PREFIX, own_routes=OWN_ROUTES,
        across=any(link.across for link in router.fabric), vrfs=router.vrfs(), groups=_groups,
        name_of=_vrf, site=site_text(case.plan, router, "mgmt"),
    )  # fmt: skip


def _groups(vrf: Vrf) -> list[str]:
    return [GROUP, *([ACROSS] if any(link.across for link in vrf.fabric) else ())]


def _ports(case: _Case, router: Router) -> dict[str, Table]:
    link = case.plan.link
    assert link.switch_mtu_bytes is not None, "an Ethernet plan has the MTU of its switches"
    mtu, speed = link.switch_mtu_bytes.text(), str(case.rate * 1000)
    devices = {host.port.number: host.device for host in router.hosts}
    table, neighbours = {}, {}
    for port in router.switch.ports:
        name = case.port(port.number)
        cage, place = divmod(port.number, case.split)
        far = devices.get(port.number) or case.port(port.peer_port)
        first = cage * case.hardware.stride + place * case.lanes
        table[name] = {
            "alias": case.alias(port.number), "index": str(cage + 1),
            "subport": str(place + 1 if case.split > 1 else 0),
            "lanes": ",".join(str(lane) for lane in range(first, first + case.lanes)),
            "speed": speed, "fec": "rs", "mtu": mtu, "admin_status": "up",
            "description": f"{port.peer} {far}",
        }  # fmt: skip
        neighbours[name] = {"name": port.peer, "port": far}
    mode = {"brkout_mode": case.hardware.breakouts[case.rate].mode}
    cages = (f"Ethernet{cage * case.hardware.lanes}" for cage in range(case.hardware.cages))
    breakouts = dict.fromkeys(cages, mode)
    return {"PORT": table, "DEVICE_NEIGHBOR": neighbours, "BREAKOUT_CFG": breakouts}


def _links(case: _Case, router: Router) -> dict[str, Table]:
    """Return interfaces and peers; of a tenant these are the far ends of sub-interfaces."""
    interfaces: Table = {}
    for host in router.hosts:
        name = case.port(host.port.number)
        of = {"vrf_name": _vrf(host.tenant)} if host.tenant else {}
        interfaces |= {name: of, f"{name}|{host.address}/{PREFIX}": {}}
    local = {"ipv6_use_link_local_only": "enable"}
    interfaces |= {case.port(link.port.number): local for link in router.fabric}
    peers: Table = {}
    inside: Table = {}
    for vrf in router.vrfs():
        name = _vrf(vrf.name)
        for link in vrf.fabric:
            port = case.port(link.port.number)
            peer = str(link.peer_address) if vrf.tag else port
            peers[f"{name}|{peer}"] = {"peer_group_name": ACROSS if link.across else GROUP}
            if vrf.tag:
                own = {"vrf_name": name, "vlan": str(vrf.tag), "admin_status": "up"}
                sub = f"{port}.{vrf.tag}"
                inside |= {sub: own, f"{sub}|{link.address}/{PREFIX}": {}}
    return {"INTERFACE": interfaces, "VLAN_SUB_INTERFACE": inside, "BGP_NEIGHBOR": peers}


def _vrf(tenant: str) -> str:
    return f"Vrf{tenant}" if tenant else "default"


def _lossless(case: _Case) -> dict[str, Table]:
    """Return the tables that are the same on every switch; none without PFC."""
    plan, pause = case.plan, case.plan.pause
    if pause is None:
        return {}
    return texts_in(
        "sonic/lossless.yaml.j2", case=case, labels=plan.labels, marking=plan.marking,
        pause=pause, rooms=_rooms(pause), group=_group, egress_bytes=EGRESS_BYTES,
        reserve=sum(group_reserve(case.lanes)),
        exponent=round(log2(pause.buffer_alpha.number())),
    )  # fmt: skip


def _rooms(pause: Pause) -> Mapping[str, LinkRoom]:
    """Return cable and headroom by kind of link; under no name where all are alike."""
    return pause.links or {"": pause.room("")}


def _group(kind: str) -> str:
    """Return the profile of the lossless group of a kind of link; of all, where all are alike.

    >>> _group("host"), _group("")
    ('pg_lossless_host_profile', 'pg_lossless_profile')
    """
    return f"pg_lossless_{kind}_profile" if kind else "pg_lossless_profile"


def _of_ports(case: _Case, switch: Wired, shared: Mapping[str, Table]) -> dict[str, Table]:
    """Return the lossless tables of a switch, with the rows of each of its ports."""
    labels, pause = case.plan.labels, case.plan.pause
    if labels is None or pause is None:
        return {}
    names = [case.port(port.number) for port in switch.ports]
    kinds = [switch.kind(port) if pause.links else "" for port in switch.ports]
    rooms, lossless = _rooms(pause), labels.priority.text()
    tables = {name: dict(_each_port(table, names)) for name, table in shared.items()}
    tables["BUFFER_PG"] |= {
        f"{name}|{lossless}": {"profile": _group(kind)}
        for name, kind in zip(names, kinds, strict=True)
    }
    lengths = {
        name: f"{rooms[kind].cable_m.text()}m" for name, kind in zip(names, kinds, strict=True)
    }
    return tables | {"CABLE_LENGTH": {"AZURE": lengths}}


def _each_port(table: Table, names: Sequence[str]) -> Iterator[tuple[str, Any]]:
    for key, row in table.items():
        if key.startswith(EACH_PORT):
            yield from ((name + key.removeprefix(EACH_PORT), row) for name in names)
        else:
            yield key, row


def _refuses(plan: Plan) -> str | None:
    switch, rate = layout(plan.cluster).switch, _rate(plan)
    known = platforms().get(switch)
    if known is None:
        return (
            f"sonic knows the lanes of {', '.join(platforms())}, not those of {switch}; it "
            "needs platform, cages, lanes and breakout modes from its platform.json"
        )
    if rate not in known.breakouts:
        able = ", ".join(f"{breakout}" for breakout in known.breakouts)
        return f"sonic knows the hwsku of {switch} with ports of {able} Gb/s, not of {rate}"
    return None


sonic = declared("sonic", files=_files, refuses=_refuses)
