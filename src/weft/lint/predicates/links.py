"""Predicates on links and MTU."""

from collections import Counter
from functools import lru_cache
from string import digits
from typing import Final

import re2

from weft import units
from weft.lint import facts
from weft.lint.rule import Case, Device, Found, Severity, grouped, problem

_DIGITS: Final = frozenset(digits)
_FRONT: Final = re2.compile(r"(?i)mgmt|management|storage|front|frontend|oob")


def bond_on_rail(case: Case) -> Found:
    for one in case.of(facts.Bond):
        if len(one.members) == 0 or _FRONT.search(one.name):
            continue
        if (
            one.side is facts.Side.HOST
            and len(case.of(facts.Pause)) + len(case.of(facts.Mark)) == 0
        ):
            continue
        hosts = _bond_on_rail_hosts(case, one)
        if one.side is facts.Side.HOST or hosts:
            yield problem("bond", one, names=", ".join(one.members[:4]))


def _bond_on_rail_hosts(case: Case, one: facts.Bond) -> bool:
    """Return whether members of a LAG lead to hosts."""
    switches = {switch.name for switch in case.switches} | case.absent
    peers = {
        p.peer
        for s in case.switches
        if s.name == one.device
        for p in s.of(facts.Port)
        if p.name in one.members
    }
    return bool(peers - switches - {""}) or not peers


def link_down(case: Case) -> Found:
    for switch in case.switches:
        used = _used(switch)
        for one in switch.of(facts.Port):
            if one.up is False and (one.peer or one.name in used):
                to = f" to {one.peer}" if one.peer else ""
                yield problem("switch", one, to=to)


def _used(switch: Device) -> set[str]:
    """Return the names of ports that have an address or a session."""
    sessions = {one.peer for one in switch.of(facts.Neighbor)}
    return sessions | {one.port for one in switch.of(facts.Address)}


def link_ends_differ(case: Case) -> Found:
    for fleet in case.fleets():
        ports = {(s.name, one.name): one for s in fleet for one in s.of(facts.Port)}
        merged = _merged(fleet)
        names = {switch.name for switch in fleet}
        for (device, name), one in merged.items():
            if one.peer not in names or not one.peer_port:
                continue
            other = merged.get((one.peer, one.peer_port))
            if other is None:
                yield problem("absent", one, device=device, name=name)
            elif (other.peer, other.peer_port) != (device, name):
                yield problem(
                    "other",
                    one,
                    ports[one.peer, one.peer_port],
                    device=device,
                    name=name,
                    other=other,
                )
            elif (device, name) < (one.peer, one.peer_port):
                yield from _compare(one, other)


def _merged(fleet: list[Device]) -> dict[tuple[str, str], facts.Port]:
    """Return the ports by device and name, where several files say something of one."""
    found: dict[tuple[str, str], facts.Port] = {}
    for switch in fleet:
        for one in switch.of(facts.Port):
            before = found.get((switch.name, one.name))
            if before is None or one.peer:
                found[switch.name, one.name] = one
    return found


def _compare(one: facts.Port, other: facts.Port) -> Found:
    for what, mine, theirs in (
        ("speed", one.speed_gbit, other.speed_gbit),
        ("FEC", one.fec, other.fec),
        ("autonegotiation", one.autoneg, other.autoneg),
        ("MTU", one.mtu_bytes, other.mtu_bytes),
    ):
        if mine != theirs and mine is not None and theirs is not None and (mine or theirs):
            yield problem(
                "differs", one, other, what=what, mine=mine or "unset", theirs=theirs or "unset"
            )


def link_lanes(case: Case) -> Found:
    for switch in case.switches:
        taken: dict[int, facts.Port] = {}
        widths: dict[float | None, Counter[int]] = {}
        rows = [one for one in switch.of(facts.Port) if one.lanes]
        for one in rows:
            widths.setdefault(one.speed_gbit, Counter())[len(one.lanes)] += 1
            for lane in one.lanes:
                first = taken.setdefault(lane, one)
                if first is not one:
                    yield problem("shared", one, first, lane=lane)
                    break
        for one in rows:
            usual = widths[one.speed_gbit].most_common(1)[0][0]
            if len(one.lanes) != usual:
                yield problem("count", one, count=len(one.lanes), usual=usual)


def link_peer_twice(case: Case) -> Found:
    for fleet in case.fleets():
        first: dict[tuple[str, str], facts.Port] = {}
        for switch in fleet:
            for one in switch.of(facts.Port):
                if not one.peer_port or _DIGITS.isdisjoint(one.peer_port):
                    continue
                other = first.setdefault((one.peer, one.peer_port), one)
                if (other.device, other.name) != (one.device, one.name):
                    yield problem("twice", one, other)


_FEW_RATIO: Final = 0.25


def link_speed(case: Case) -> Found:
    for fleet in case.fleets():
        names = {switch.name for switch in fleet} | case.absent
        for switch in fleet:
            for up in (True, False):
                ports = [one for one in switch.of(facts.Port) if one.speed_gbit and one.peer]
                rows = [one for one in ports if (one.peer in names) is up]
                counts = Counter(one.speed_gbit for one in rows)
                if len(counts) < 2:  # noqa: PLR2004 - two that differ
                    continue
                usual = counts.most_common(1)[0][0]
                for one in rows:
                    rare = counts[one.speed_gbit] <= _FEW_RATIO * len(rows)
                    if one.speed_gbit != usual and rare:
                        yield problem("odd", one, usual=usual)


def mtu_ends_differ(case: Case) -> Found:
    for fleet in case.fleets():
        rows = [
            p
            for switch in fleet
            for p in switch.of(facts.Port)
            if p.mtu_bytes and _carries_data(p)
        ]
        counts = Counter(one.mtu_bytes for one in rows)
        usual = counts.most_common(1)[0][0] if counts else None
        shown = next((one for one in rows if one.mtu_bytes == usual), None)
        odd = grouped((one for one in rows if one.mtu_bytes != usual), lambda one: one.device)
        for device, ports in odd.items():
            assert shown is not None
            more = f" and {len(ports) - 1} more" if len(ports) > 1 else ""
            yield problem(
                "odd",
                ports[0],
                shown,
                more=more,
                device=device,
                usual=usual,
                severity=None
                if case.fabric or facts.Side.JOB in case.sides
                else Severity.WARNING,
            )
        yield from _mtu_ends_differ_hosts(case, rows)


def _carries_data(port: facts.Port) -> bool:
    """Return whether a port carries the fabric's data."""
    return not port.name.lower().startswith(
        ("lo", "mgmt", "eth0", "management", "vlan", "null")
    )


def _mtu_ends_differ_hosts(case: Case, rows: list[facts.Port]) -> Found:
    least = min(rows, key=lambda one: one.mtu_bytes or 0, default=None)
    if least is None or least.mtu_bytes is None:
        return
    for one in case.of(facts.Port):
        if one.side is facts.Side.HOST and one.mtu_bytes and one.mtu_bytes > least.mtu_bytes:
            yield problem("hosts", one, least)
    for network in case.of(facts.Network):
        if network.mtu_bytes and network.mtu_bytes > least.mtu_bytes:
            yield problem("pods", network, least)


_LEAST: Final = 4200
_CODE_4096: Final = 5


def mtu_small(case: Case) -> Found:
    if case.fabric != "infiniband":
        seen: dict[tuple[str, int], facts.Port] = {}
        for one in case.of(facts.Port):
            if one.mtu_bytes and one.mtu_bytes < _LEAST and _carries_data(one):
                seen.setdefault((one.device, one.mtu_bytes), one)
        for port in seen.values():
            yield problem(
                "port",
                port,
                text=f"{port.device} {port.name}: MTU {port.mtu_bytes}".strip(),
                fix=_fix(port),
            )
    offers: list[facts.Network | facts.Offered] = [
        *case.of(facts.Network),
        *case.of(facts.Offered),
    ]
    for offer in offers:
        if offer.mtu_bytes and offer.mtu_bytes < _LEAST and _is_rdma(offer):
            yield problem("offer", offer)
    for part in case.of(facts.Partition):
        if part.ipoib and part.mtu_code is not None and part.mtu_code < _CODE_4096:
            yield problem("partition", part)


def _is_rdma(one: facts.Network | facts.Offered) -> bool:
    return (
        isinstance(one, facts.Offered)
        or bool(one.resource)
        or one.kind
        in {
            "macvlan",
            "ipvlan",
            "host-device",
            "sriov",
            "MacvlanNetwork",
            "SriovNetwork",
            "HostDeviceNetwork",
            "OVSNetwork",
        }
    )


def _fix(port: facts.Port) -> str:
    return "use 9216" if port.side is facts.Side.SWITCH else "use 9000"


_PART: Final = re2.compile(r"(Ethernet\d+/\d+/|swp\d+s)(\d+)")
_FIRST: Final = {"E": 1, "s": 0}
"""Of the numbers of the parts, by how the name begins."""


def port_split(case: Case) -> Found:
    for switch in case.switches:
        yield from _parts(switch)


@lru_cache(1 << 16)
def _cage(name: str) -> tuple[str, int]:
    """Return what the names of a split cage begin with, and the number of a part from 0."""
    match = _PART.fullmatch(name)
    return (match[1], int(match[2]) - _FIRST[match[1][0]]) if match else ("", 0)


def _parts(switch: Device) -> Found:
    splits = {cage: one for one in switch.of(facts.Split) for cage in one.cages}
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


def port_unlike_others(case: Case) -> Found:
    for switch in case.switches:
        yield from _ports(switch)
        yield from _queues(switch)


def _ports(switch: Device) -> Found:
    used = _used(switch)
    files = grouped(
        (one for one in switch.of(facts.Port) if one.peer or one.name in used),
        lambda one: one.at.text.name,
    )
    for rows in files.values():
        for name, words in _SETTINGS:
            have = [one for one in rows if getattr(one, name) not in {None, ""}]
            lack = [one for one in rows if getattr(one, name) in {None, ""}]
            if lack and len(have) >= max(_ENOUGH, _ENOUGH * len(lack)):
                more = f" and {len(lack) - 1} more" if len(lack) > 1 else ""
                yield problem(
                    "lacks", lack[0], have[0], more=more, words=words, count=len(have)
                )


def _queues(switch: Device) -> Found:
    kinds = grouped(
        (one for one in switch.of(facts.QueueUse) if one.ports), lambda one: one.queue
    )
    for queue, rows in kinds.items():
        counts = Counter[str]()
        for one in rows:
            counts[one.scheduler] += len(one.ports)
        usual, count = counts.most_common(1)[0]
        lack = next((one for one in rows if not one.scheduler), None)
        if lack and usual and count >= max(_ENOUGH, _ENOUGH * counts[""]):
            shown = next(one for one in rows if one.scheduler == usual)
            yield problem("scheduler", lack, shown, queue=queue, usual=usual, count=count)


_MODEL: Final = re2.compile(r"(?i)sn(\d{4})")


def switch_model(case: Case) -> Found:
    for one in case.of(facts.Hardware):
        name, platform = (_MODEL.search(text) for text in (one.name, one.platform))
        if name and platform and name[1] != platform[1]:
            yield problem("differs", one, name=name, platform=platform)


def cluster_differs(case: Case) -> Found:
    if case.cluster is None:  # several documents: nobody can say whose files these are
        return
    kind = case.fabric
    if case.on_ethernet:
        alien: list[facts.Fact] = [*case.options("opensm")[:1], *case.of(facts.Partition)[:1]]
        alien += [
            n for n in case.of(facts.Network) if n.kind in {"SriovIBNetwork", "IPoIBNetwork"}
        ][:1]
    elif kind == "infiniband":
        alien = [*[one for one in case.of(facts.Pause) if one.priorities][:1]]
        alien += [
            n for n in case.of(facts.Network) if n.kind in {"SriovNetwork", "MacvlanNetwork"}
        ][:1]
        alien += case.of(facts.Mark)[:1]
    else:
        alien = []
    for one in alien:
        yield problem("kind", one, case.cluster, kind=kind)
    rate = units.gbit_from_rate(case.cluster.cluster.host.nic_bytes_per_s)
    names = {switch.name for switch in case.switches} | case.absent
    slow = [
        one
        for switch in case.switches
        for one in switch.of(facts.Port)
        if one.peer
        and one.peer not in names
        and one.speed_gbit
        and one.speed_gbit < rate
        and case.cluster.cluster.topology.planes == 1
    ]
    if slow:
        yield problem("rate", slow[0], case.cluster, count=len(slow), rate=rate)


_ALIAS: Final = re2.compile(r"etp(\d+)[a-h]?")


@lru_cache(1 << 16)
def _alias_cage(alias: str) -> int | None:
    """Return the number of the cage that an alias of SONiC names."""
    match = _ALIAS.fullmatch(alias)
    return int(match[1]) if match else None


def port_cage(case: Case) -> Found:
    for switch in case.switches:
        named: dict[str, facts.Port] = {}
        for port in switch.of(facts.Port):
            cage = _alias_cage(port.alias)
            first = port if cage is None else named.setdefault(port.alias, port)
            if first is not port:
                yield problem("alias", port, first)
            elif cage is not None and port.cage is not None and port.cage != cage:
                yield problem("index", port)
