"""Predicates on links and MTU."""

from collections import Counter
from typing import Final

import re2

from weft import units
from weft.lint.facts import (
    Address,
    Bond,
    Fact,
    Hardware,
    Mark,
    Neighbor,
    Network,
    Offered,
    Partition,
    Pause,
    Port,
    QueueUse,
    Side,
    Speaker,
    Split,
)
from weft.lint.rule import Case, Device, Found, Severity, problem

_FRONT: Final = re2.compile(r"(?i)mgmt|management|storage|front|frontend|oob")


def bond_on_rail(case: Case) -> Found:
    for one in case.of(Bond):
        if len(one.members) == 0 or _FRONT.search(one.name):
            continue
        if one.side is Side.HOST and len(case.of(Pause)) + len(case.of(Mark)) == 0:
            continue
        hosts = _bond_on_rail_hosts(case, one)
        if one.side is Side.HOST or hosts:
            yield problem(
                one,
                f"{one.name} bundles {', '.join(one.members[:4])}",
                "take the bond away, and give each rail its own address",
            )


def _bond_on_rail_hosts(case: Case, one: Bond) -> bool:
    """Return whether members of a LAG lead to hosts."""
    switches = {switch.name for switch in case.switches} | case.absent
    peers = {
        p.peer
        for s in case.switches
        if s.name == one.device
        for p in s.of(Port)
        if p.name in one.members
    }
    return bool(peers - switches - {""}) or not peers


def link_down(case: Case) -> Found:
    for one in case.of(Port):
        if one.side is Side.HOST and one.up is False and one.mtu_bytes:
            yield problem(one, f"{one.name} is set up and shut down", "end the line with up")
    for switch in case.switches:
        used = {one.port for one in switch.of(Address)} | {n.peer for n in switch.of(Neighbor)}
        for one in switch.of(Port):
            if one.up is False and (one.peer or one.name in used):
                to = f" to {one.peer}" if one.peer else ""
                yield problem(one, f"{switch.name} {one.name}{to} is shut down", "bring it up")


def link_ends_differ(case: Case) -> Found:
    for fleet in case.fleets():
        ports = {(s.name, one.name): one for s in fleet for one in s.of(Port)}
        merged = _merged(fleet)
        names = {switch.name for switch in fleet}
        for (device, name), one in merged.items():
            if one.peer not in names or not one.peer_port:
                continue
            other = merged.get((one.peer, one.peer_port))
            if other is None:
                yield problem(
                    one,
                    f"{device} {name} is cabled to {one.peer} {one.peer_port}, which "
                    "is not there",
                    "correct the description or the cable",
                )
            elif (other.peer, other.peer_port) != (device, name):
                yield problem(
                    [one, ports[one.peer, one.peer_port]],
                    f"{device} {name} names "
                    f"{one.peer} {one.peer_port}, which names {other.peer} "
                    f"{other.peer_port}",
                    "correct the description or the cable",
                )
            elif (device, name) < (one.peer, one.peer_port):
                yield from _compare(one, other)


def _merged(fleet: list[Device]) -> dict[tuple[str, str], Port]:
    """Return the ports by device and name, where several files say something of one."""
    found: dict[tuple[str, str], Port] = {}
    for switch in fleet:
        for one in switch.of(Port):
            before = found.get((switch.name, one.name))
            if before is None or one.peer:
                found[switch.name, one.name] = one
    return found


def _compare(one: Port, other: Port) -> Found:
    for what, mine, theirs in (
        ("speed", one.speed_gbit, other.speed_gbit),
        ("FEC", one.fec, other.fec),
        ("autonegotiation", one.autoneg, other.autoneg),
        ("MTU", one.mtu_bytes, other.mtu_bytes),
    ):
        if mine != theirs and mine is not None and theirs is not None and (mine or theirs):
            yield problem(
                [one, other],
                f"{what} is {mine or 'unset'} on {one.device} {one.name} and "
                f"{theirs or 'unset'} on {other.device} {other.name}",
                "set both ends alike",
            )


def link_lanes(case: Case) -> Found:
    for switch in case.switches:
        taken: dict[int, Port] = {}
        widths: dict[float | None, Counter[int]] = {}
        rows = [one for one in switch.of(Port) if one.lanes]
        for one in rows:
            widths.setdefault(one.speed_gbit, Counter())[len(one.lanes)] += 1
            for lane in one.lanes:
                first = taken.setdefault(lane, one)
                if first is not one:
                    yield problem(
                        [one, first],
                        f"{one.name} and {first.name} of {switch.name} share lane {lane}",
                        "give each its own lanes",
                    )
                    break
        for one in rows:
            usual = widths[one.speed_gbit].most_common(1)[0][0]
            if len(one.lanes) != usual:
                yield problem(
                    one,
                    f"{one.name} of {switch.name} has {len(one.lanes)} lanes, its like {usual}",
                    "give it as many",
                )


def link_peer_twice(case: Case) -> Found:
    for fleet in case.fleets():
        first: dict[tuple[str, str], Port] = {}
        for switch in fleet:
            for one in switch.of(Port):
                if not one.peer_port or not any(letter.isdigit() for letter in one.peer_port):
                    continue
                other = first.setdefault((one.peer, one.peer_port), one)
                if (other.device, other.name) != (one.device, one.name):
                    yield problem(
                        [one, other],
                        f"{other.device} {other.name} and {one.device} {one.name} are both "
                        f"cabled to {one.peer} {one.peer_port}",
                        "correct one of the descriptions",
                    )


_FEW_RATIO: Final = 0.25


def link_speed(case: Case) -> Found:
    for fleet in case.fleets():
        names = {switch.name for switch in fleet} | case.absent
        for switch in fleet:
            for up in (True, False):
                ports = [one for one in switch.of(Port) if one.speed_gbit and one.peer]
                rows = [one for one in ports if (one.peer in names) is up]
                counts = Counter(one.speed_gbit for one in rows)
                if len(counts) < 2:  # noqa: PLR2004 - two that differ
                    continue
                usual = counts.most_common(1)[0][0]
                for one in rows:
                    rare = counts[one.speed_gbit] <= _FEW_RATIO * len(rows)
                    if one.speed_gbit != usual and rare:
                        yield problem(
                            one,
                            f"{switch.name} {one.name} runs at {one.speed_gbit:g} "
                            f"Gb/s, its like at {usual:g}",
                            "find out why",
                        )


def mtu_ends_differ(case: Case) -> Found:
    for fleet in case.fleets():
        rows = [
            p
            for switch in fleet
            for p in switch.of(Port)
            if p.mtu_bytes and _mtu_ends_differ_data(p)
        ]
        counts = Counter(one.mtu_bytes for one in rows)
        usual = counts.most_common(1)[0][0] if counts else None
        shown = next((one for one in rows if one.mtu_bytes == usual), None)
        odd: dict[str, list[Port]] = {}
        for one in rows:
            if one.mtu_bytes != usual:
                odd.setdefault(one.device, []).append(one)
        for device, ports in odd.items():
            assert shown is not None
            more = f" and {len(ports) - 1} more" if len(ports) > 1 else ""
            yield problem(
                [ports[0], shown],
                f"{ports[0].name}{more} of {device} has MTU "
                f"{ports[0].mtu_bytes}, others {usual}",
                "use one MTU",
                # A network that nobody is seen to use RDMA on may have links of several MTUs.
                severity=None if case.fabric or Side.JOB in case.sides else Severity.WARNING,
            )
        yield from _mtu_ends_differ_hosts(case, rows)


def _mtu_ends_differ_data(port: Port) -> bool:
    """Return whether a port carries the fabric's data."""
    return not port.name.lower().startswith(
        ("lo", "mgmt", "eth0", "management", "vlan", "null")
    )


def _mtu_ends_differ_hosts(case: Case, rows: list[Port]) -> Found:
    least = min(rows, key=lambda one: one.mtu_bytes or 0, default=None)
    if least is None or least.mtu_bytes is None:
        return
    for one in case.of(Port):
        if one.side is Side.HOST and one.mtu_bytes and one.mtu_bytes > least.mtu_bytes:
            yield problem(
                [one, least],
                f"hosts send frames of {one.mtu_bytes}, and {least.name} of "
                f"{least.device} takes {least.mtu_bytes}",
                "raise the switch",
            )
    for network in case.of(Network):
        if network.mtu_bytes and network.mtu_bytes > least.mtu_bytes:
            yield problem(
                [network, least],
                f"pods send frames of {network.mtu_bytes}, and "
                f"{least.name} of {least.device} takes {least.mtu_bytes}",
                "lower the pod's, or raise the switch's",
            )


_LEAST: Final = 4200
_CODE_4096: Final = 5


def mtu_small(case: Case) -> Found:
    if case.fabric != "infiniband":
        seen: dict[tuple[str, int], Port] = {}
        for one in case.of(Port):
            if one.mtu_bytes and one.mtu_bytes < _LEAST and _mtu_small_data(one):
                seen.setdefault((one.device, one.mtu_bytes), one)
        for port in seen.values():
            yield problem(
                port, f"{port.device} {port.name}: MTU {port.mtu_bytes}".strip(), _fix(port)
            )
    offers: list[Network | Offered] = [*case.of(Network), *case.of(Offered)]
    for offer in offers:
        if offer.mtu_bytes and offer.mtu_bytes < _LEAST and _is_rdma(offer):
            yield problem(offer, f"{offer.device}: MTU {offer.mtu_bytes}", "use 9000")
    for part in case.of(Partition):
        if part.ipoib and part.mtu_code is not None and part.mtu_code < _CODE_4096:
            yield problem(
                part,
                f"partition {part.name} has MTU code {part.mtu_code}; 4096 bytes is "
                f"{_CODE_4096}",
                f"set mtu={_CODE_4096}",
            )


def _is_rdma(one: Network | Offered) -> bool:
    return (
        isinstance(one, Offered)
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


def _mtu_small_data(port: Port) -> bool:
    return not port.name.lower().startswith(
        ("lo", "mgmt", "eth0", "management", "vlan", "null")
    )


def _fix(port: Port) -> str:
    return "use 9216" if port.side is Side.SWITCH else "use 9000"


_PART: Final = re2.compile(r"(Ethernet\d+/\d+/|swp\d+s)(\d+)")
_FIRST: Final = {"E": 1, "s": 0}
"""Of the numbers of the parts, by how the name begins."""


def port_split(case: Case) -> Found:
    for switch in case.switches:
        yield from _parts(switch)


def _parts(switch: Device) -> Found:
    splits = {cage: one for one in switch.of(Split) for cage in one.cages}
    if not splits and not switch.of(Speaker):  # a part of a configuration
        return
    alone: list[Port] = []
    for port in switch.of(Port):
        match = _PART.fullmatch(port.name)
        if match is None:
            continue
        split = splits.get(match[1])
        if split is None:
            alone.append(port)
        elif int(match[2]) - _FIRST[match[1][0]] >= split.ways:
            yield problem(
                [port, split],
                f"{switch.name} has no {port.name}: its cage is split {split.ways} ways",
                "split it further, or remove the port",
            )
    if alone:
        more = f" and {len(alone) - 1} more are parts" if len(alone) > 1 else " is a part"
        yield problem(
            [alone[0], *switch.of(Split)[:1]],
            f"{switch.name} {alone[0].name}{more} of a cage that is not split",
            "split the cage",
        )


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
    used = {one.port for one in switch.of(Address)} | {n.peer for n in switch.of(Neighbor)}
    files: dict[str, list[Port]] = {}
    for one in switch.of(Port):
        if one.peer or one.name in used:
            files.setdefault(one.at.text.name, []).append(one)
    for rows in files.values():
        for name, words in _SETTINGS:
            have = [one for one in rows if getattr(one, name) not in {None, ""}]
            lack = [one for one in rows if getattr(one, name) in {None, ""}]
            if lack and len(have) >= max(_ENOUGH, _ENOUGH * len(lack)):
                more = f" and {len(lack) - 1} more" if len(lack) > 1 else ""
                yield problem(
                    [lack[0], have[0]],
                    f"{switch.name} {lack[0].name}{more} has {words}; {len(have)} other ports "
                    "have",
                    "set it as on the others",
                )


def _queues(switch: Device) -> Found:
    kinds: dict[int, list[QueueUse]] = {}
    for one in switch.of(QueueUse):
        if one.ports:
            kinds.setdefault(one.queue, []).append(one)
    for queue, rows in kinds.items():
        counts = Counter[str]()
        for one in rows:
            counts[one.scheduler] += len(one.ports)
        usual, count = counts.most_common(1)[0]
        lack = next((one for one in rows if not one.scheduler), None)
        if lack and usual and count >= max(_ENOUGH, _ENOUGH * counts[""]):
            shown = next(one for one in rows if one.scheduler == usual)
            yield problem(
                [lack, shown],
                f"queue {queue} of {switch.name} {lack.ports[0]} has no scheduler; "
                f"{usual} on {count} other ports",
                f"use {usual}",
            )


_MODEL: Final = re2.compile(r"(?i)sn(\d{4})")


def switch_model(case: Case) -> Found:
    for one in case.of(Hardware):
        name, platform = (_MODEL.search(text) for text in (one.name, one.platform))
        if name and platform and name[1] != platform[1]:
            yield problem(
                one,
                f"{one.device} has the profile of an SN{name[1]} and is an SN{platform[1]}",
                "use the hwsku of its own model",
            )


def cluster_differs(case: Case) -> Found:
    if case.cluster is None:  # several documents: nobody can say whose files these are
        return
    kind = case.fabric
    if case.on_ethernet:
        alien: list[Fact] = [*case.options("opensm")[:1], *case.of(Partition)[:1]]
        alien += [n for n in case.of(Network) if n.kind in {"SriovIBNetwork", "IPoIBNetwork"}][
            :1
        ]
    elif kind == "infiniband":
        alien = [*[one for one in case.of(Pause) if one.priorities][:1]]
        alien += [n for n in case.of(Network) if n.kind in {"SriovNetwork", "MacvlanNetwork"}][
            :1
        ]
        alien += case.of(Mark)[:1]
    else:
        alien = []
    for one in alien:
        yield problem(
            [one, case.cluster],
            f"this is not for {kind}, which the cluster document says",
            "remove it, or correct fabric.kind",
        )
    rate = units.gbit_from_rate(case.cluster.cluster.host.nic_bytes_per_s)
    names = {switch.name for switch in case.switches} | case.absent
    slow = [
        one
        for switch in case.switches
        for one in switch.of(Port)
        if one.peer
        and one.peer not in names
        and one.speed_gbit
        and one.speed_gbit < rate
        and case.cluster.cluster.topology.planes == 1
    ]
    if slow:
        yield problem(
            [slow[0], case.cluster],
            f"{len(slow)} ports to hosts run at "
            f"{slow[0].speed_gbit:g} Gb/s, and the NICs at {rate:g}",
            "correct the one that is wrong",
            severity=Severity.WARNING,
        )
