"""Predicates on links and MTU."""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from string import digits
from typing import Final

import re2

from weft import units
from weft.lint import facts
from weft.lint.names import names
from weft.lint.rule import (
    Case,
    Device,
    Found,
    Severity,
    grouped,
    path_of,
    problem,
    repeated,
    usual,
)  # fmt: skip

_DIGITS: Final = frozenset(digits)
_FRONT: Final = re2.compile(r"(?i)mgmt|management|storage|front|frontend|oob")


def bond_on_rail(one: facts.Bond, case: Case) -> Found:
    if len(one.members) == 0 or _FRONT.search(one.name):
        return
    if one.side is facts.Side.HOST:
        is_of_rdma = bool(case.of(facts.Pause) or case.of(facts.Mark))
    else:
        is_of_rdma = _leads_to_hosts(case, one)
    if is_of_rdma:
        yield problem("bond", one, names=one.members[:4])


def _leads_to_hosts(case: Case, one: facts.Bond) -> bool:
    """Return whether members of a LAG lead to hosts."""
    switches = {switch.name for switch in case.switches} | case.absent
    ports = (port for s in case.switches if s.name == one.device for port in s.of(facts.Port))
    peers = {port.peer for port in ports if port.name in one.members}
    return bool(peers - switches - {""}) or not peers


def link_down(switch: Device) -> Found:
    used = _used(switch)
    for port in switch.of(facts.Port):
        if port.up is False and (port.peer or port.name in used):
            to = f" to {port.peer}" if port.peer else ""
            yield problem("switch", port, to=to)


def _used(switch: Device) -> set[str]:
    """Return the names of ports that have an address or a session."""
    sessions = {neighbor.peer for neighbor in switch.of(facts.Neighbor)}
    return sessions | {address.port for address in switch.of(facts.Address)}


def link_ends_differ(fleet: list[Device]) -> Found:
    ports = {(s.name, port.name): port for s in fleet for port in s.of(facts.Port)}
    merged = _merged(fleet)
    names = {switch.name for switch in fleet}
    for (device, name), port in merged.items():
        if port.peer not in names or not port.peer_port:
            continue
        other = merged.get((port.peer, port.peer_port))
        if other is None:
            yield problem("absent", port, device=device, name=name)
        elif (other.peer, other.peer_port) != (device, name):
            shown = ports[port.peer, port.peer_port]
            yield problem("other", port, shown, device=device, name=name, other=other)
        elif (device, name) < (port.peer, port.peer_port):
            yield from _compare(port, other)


def _merged(fleet: list[Device]) -> dict[tuple[str, str], facts.Port]:
    """Return the ports by device and name, where several files say something of one."""
    found: dict[tuple[str, str], facts.Port] = {}
    for switch in fleet:
        for port in switch.of(facts.Port):
            before = found.get((switch.name, port.name))
            if before is None or port.peer:
                found[switch.name, port.name] = port
    return found


def _compare(one: facts.Port, other: facts.Port) -> Found:
    for what, mine, theirs in (
        ("speed", one.speed_gbit, other.speed_gbit),
        ("FEC", one.fec, other.fec),
        ("autonegotiation", one.autoneg, other.autoneg),
        ("MTU", one.mtu_bytes, other.mtu_bytes),
    ):
        if mine != theirs and mine is not None and theirs is not None:
            ends = mine or "unset", theirs or "unset"
            yield problem("differs", one, other, what=what, ends=ends)


def link_lanes(switch: Device) -> Found:
    taken: dict[int, facts.Port] = {}
    rows = [port for port in switch.of(facts.Port) if port.lanes]
    for row in rows:
        for lane in row.lanes:
            first = taken.setdefault(lane, row)
            if first is not row:
                yield problem("shared", row, first, lane=lane)
                break
    for peers in grouped(rows, lambda row: row.speed_gbit).values():
        common, _ = usual(len(peer.lanes) for peer in peers)
        for peer in peers:
            if len(peer.lanes) != common:
                yield problem("count", peer, usual=common)


def link_peer_twice(fleet: list[Device]) -> Found:
    ports = (port for switch in fleet for port in switch.of(facts.Port) if port.peer_port)
    numbered = (port for port in ports if not _DIGITS.isdisjoint(port.peer_port))
    for port, other in repeated(numbered, lambda port: (port.peer, port.peer_port)):
        if (other.device, other.name) != (port.device, port.name):
            yield problem("twice", port, other)


_FEW_RATIO: Final = 0.25


def link_speed(fleet: list[Device], case: Case) -> Found:
    names = {switch.name for switch in fleet} | case.absent
    for switch in fleet:
        for up in (True, False):
            ports = [port for port in switch.of(facts.Port) if port.speed_gbit and port.peer]
            rows = [port for port in ports if (port.peer in names) is up]
            counts = Counter(row.speed_gbit for row in rows)
            common, _ = usual(row.speed_gbit for row in rows)
            for row in rows:
                rare = counts[row.speed_gbit] <= _FEW_RATIO * len(rows)
                if row.speed_gbit != common and rare:
                    yield problem("odd", row, usual=common)


def mtu_ends_differ(fleet: list[Device], case: Case) -> Found:
    ports = [port for switch in fleet for port in switch.of(facts.Port) if port.mtu_bytes]
    rows = [port for port in ports if _carries_data(port)]
    common, _ = usual(row.mtu_bytes for row in rows)
    shown = [row for row in rows if row.mtu_bytes == common][:1]
    odd = (row for row in rows if row.mtu_bytes != common)
    sure = case.fabric or facts.Side.JOB in case.sides
    for own in grouped(odd, lambda port: port.device).values():
        severity = None if sure else Severity.WARNING
        yield problem("odd", own[0], *shown, ports=own, usual=common, severity=severity)
    yield from _mtu_ends_differ_hosts(case, rows)


def _carries_data(port: facts.Port) -> bool:
    """Return whether a port carries the fabric's data."""
    return not port.name.lower().startswith(
        ("lo", "mgmt", "eth0", "management", "vlan", "null")
    )


def _mtu_ends_differ_hosts(case: Case, rows: list[facts.Port]) -> Found:
    least = min(rows, key=lambda row: row.mtu_bytes or 0, default=None)
    if least is None or least.mtu_bytes is None:
        return
    for host in case.of_hosts(facts.Port):
        if host.mtu_bytes and host.mtu_bytes > least.mtu_bytes:
            yield problem("hosts", host, least)
    for network in case.of(facts.Network):
        if network.mtu_bytes and network.mtu_bytes > least.mtu_bytes:
            yield problem("pods", network, least)


_LEAST: Final = 4200
_CODE_4096: Final = 5
_OF_RDMA: Final = frozenset(names("networks.of_rdma"))
"""Kinds of networks that hand adapters of RDMA to pods."""


def mtu_small(case: Case) -> Found:
    if case.fabric != "infiniband":
        small = [
            port for port in case.of(facts.Port) if port.mtu_bytes and port.mtu_bytes < _LEAST
        ]
        data = (port for port in small if _carries_data(port))
        for ports in grouped(data, lambda port: (port.device, port.mtu_bytes)).values():
            text = f"{ports[0].device} {ports[0].name}: MTU {ports[0].mtu_bytes}".strip()
            yield problem("port", ports[0], text=text, fix=_fix(ports[0]))
    networks: list[facts.Network | facts.Offered] = [*case.of(facts.Network)]
    for offer in (*networks, *case.of(facts.Offered)):
        if offer.mtu_bytes and offer.mtu_bytes < _LEAST and _is_rdma(offer):
            yield problem("offer", offer)
    for part in case.of(facts.Partition):
        if part.ipoib and part.mtu_code is not None and part.mtu_code < _CODE_4096:
            yield problem("partition", part)


def _is_rdma(one: facts.Network | facts.Offered) -> bool:
    return isinstance(one, facts.Offered) or bool(one.resource) or one.kind in _OF_RDMA


def _fix(port: facts.Port) -> str:
    return "use 9216" if port.side is facts.Side.SWITCH else "use 9000"


_PART: Final = re2.compile(r"(Ethernet\d+/\d+/|swp\d+s)(\d+)")
_FIRST: Final = {"E": 1, "s": 0}
"""Of the numbers of the parts, by how the name begins."""


def port_split(switch: Device) -> Found:
    yield from _parts(switch)


@lru_cache(1 << 16)
def _cage(name: str) -> tuple[str, int]:
    """Return what the names of a split cage begin with, and the number of a part from 0."""
    match = _PART.fullmatch(name)
    return (match[1], int(match[2]) - _FIRST[match[1][0]]) if match else ("", 0)


def _parts(switch: Device) -> Found:
    splits = {cage: split for split in switch.of(facts.Split) for cage in split.cages}
    if not splits and not switch.of(facts.Speaker):  # a part of a configuration
        return
    alone: list[facts.Port] = []
    for port in switch.of(facts.Port):
        cage, number = _cage(port.name)
        split = splits.get(cage)
        if cage and split is None:
            alone.append(port)
        elif split is not None and number >= split.ways:
            yield problem("ways", port, split)
    if alone:
        more = f" and {len(alone) - 1} more are parts" if len(alone) > 1 else " is a part"
        yield problem("not_split", alone[0], *switch.of(facts.Split)[:1], more=more)


_SETTINGS: Final = (
    ("mtu_bytes", "no MTU"), ("fec", "no FEC"), ("speed_gbit", "no speed"),
    ("up", "nothing that brings it up"),
)  # fmt: skip
_ENOUGH: Final = 3
"""Of the others must agree before one is odd."""


def port_unlike_others(switch: Device) -> Found:
    yield from _ports(switch)
    yield from _queues(switch)


def _ports(switch: Device) -> Found:
    used = _used(switch)
    connected = (port for port in switch.of(facts.Port) if port.peer or port.name in used)
    for rows in grouped(connected, path_of).values():
        for name, words in _SETTINGS:
            have = [row for row in rows if getattr(row, name) not in {None, ""}]
            lack = [row for row in rows if getattr(row, name) in {None, ""}]
            if lack and len(have) >= max(_ENOUGH, _ENOUGH * len(lack)):
                yield problem("lacks", lack[0], have[0], lack=lack, words=words, have=have)


def _queues(switch: Device) -> Found:
    uses = (use for use in switch.of(facts.QueueUse) if use.ports)
    for queue, rows in grouped(uses, lambda use: use.queue).items():
        named = [row.scheduler for row in rows for _ in row.ports]
        common, count = usual(named)
        lack = next((row for row in rows if not row.scheduler), None)
        if lack and common and count >= max(_ENOUGH, _ENOUGH * named.count("")):
            shown = next(row for row in rows if row.scheduler == common)
            yield problem("scheduler", lack, shown, queue=queue, usual=common, count=count)


_MODEL: Final = re2.compile(r"(?i)sn(\d{4})")


def switch_model(one: facts.Hardware) -> Found:
    name, platform = (_MODEL.search(text) for text in (one.name, one.platform))
    if name and platform and name[1] != platform[1]:
        yield problem("differs", one, name=name, platform=platform)


def cluster_differs(case: Case) -> Found:
    if case.cluster is None:  # several documents: nobody can say whose files these are
        return
    for found in _alien(case):
        yield from (problem("kind", fact, case.cluster, kind=case.fabric) for fact in found[:1])
    rate = units.gbit_from_rate(case.cluster.cluster.host.nic_bytes_per_s)
    switches = {switch.name for switch in case.switches} | case.absent | {""}
    ports = (port for switch in case.switches for port in switch.of(facts.Port))
    to_hosts = (port for port in ports if port.peer not in switches)
    slow = [port for port in to_hosts if port.speed_gbit and port.speed_gbit < rate]
    if slow and case.cluster.cluster.topology.planes == 1:
        yield problem("rate", slow[0], case.cluster, slow=slow, rate=rate)


def _alien(case: Case) -> Iterator[Sequence[facts.Fact]]:
    """Yield what belongs to another kind of fabric than that of the cluster document."""
    networks = case.of(facts.Network)
    if case.on_ethernet:
        yield case.options("opensm")
        yield case.of(facts.Partition)
        yield [
            network
            for network in networks
            if network.kind in {"SriovIBNetwork", "IPoIBNetwork"}
        ]
    elif case.fabric == "infiniband":
        yield [pause for pause in case.of(facts.Pause) if pause.priorities]
        yield [
            network
            for network in networks
            if network.kind in {"SriovNetwork", "MacvlanNetwork"}
        ]
        yield case.of(facts.Mark)


_ALIAS: Final = re2.compile(r"etp(\d+)[a-h]?")


@lru_cache(1 << 16)
def _alias_cage(alias: str) -> int | None:
    """Return the number of the cage that an alias of SONiC names."""
    match = _ALIAS.fullmatch(alias)
    return int(match[1]) if match else None


def port_cage(switch: Device) -> Found:
    named: dict[str, facts.Port] = {}
    for port in switch.of(facts.Port):
        cage = _alias_cage(port.alias)
        first = port if cage is None else named.setdefault(port.alias, port)
        if first is not port:
            yield problem("alias", port, first)
        elif cage is not None and port.cage is not None and port.cage != cage:
            yield problem("index", port)
