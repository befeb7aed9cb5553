"""Predicates on addresses and routing."""

from collections.abc import Set as AbstractSet
from typing import Final

from weft.lint.addresses import address_of, interface_of
from weft.lint.document import whole
from weft.lint.facts import Address, HashSeed, Neighbor, Port, Side, Speaker
from weft.lint.rule import Case, Device, Found, Severity, grouped, path_of, problem, repeated


def address_duplicate(case: Case) -> Found:
    for fleet in case.fleets():
        yield from _twice([address for switch in fleet for address in switch.of(Address)])
        speakers = (
            speaker for switch in fleet for speaker in switch.of(Speaker) if speaker.router_id
        )
        for speaker, first in repeated(speakers, lambda speaker: speaker.router_id):
            if first.device != speaker.device:
                yield problem("router_id", speaker, first)
    yield from _twice(case.of_hosts(Address))


def _twice(rows: list[Address]) -> Found:
    yield from (problem("form", row) for row in rows if interface_of(row.address) is None)
    known = (row for row in rows if interface_of(row.address) and not _is_link_local(row))
    for address, first in repeated(known, lambda address: (address.vrf, _host_part(address))):
        if (first.device, first.port) != (address.device, address.port) and not _anycast(
            first, address
        ):
            yield problem("address", address, first, address=_host_part(address))


def _host_part(one: Address) -> str:
    return one.address.partition("/")[0]


def _is_link_local(one: Address) -> bool:
    return one.address.lower().startswith("fe80")


def _anycast(first: Address, one: Address) -> bool:
    """Return whether two switches share an address on purpose.

    Pairs have one tunnel address (on a second loopback) and one gateway of a VLAN.
    """
    names = {first.port.lower(), one.port.lower()}
    apart = first.device != one.device and not names & {"lo", "lo0", "loopback0"}
    return apart and any(all(n.startswith(p) for n in names) for p in ("lo", "vlan"))


def address_gateway(case: Case) -> Found:
    fleets = [
        {_host_part(address): address for switch in fleet for address in switch.of(Address)}
        for fleet in case.fleets()
    ]
    cables = [port for switch in case.switches for port in switch.of(Port) if port.peer]
    rails = case.rails
    gateways = {rail.gateway for rail in rails}
    ends = {(cable.peer, cable.peer_port) for cable in cables}
    for rail in rails:
        gateway, own_address = address_of(rail.gateway), interface_of(rail.address)
        if gateway is None or own_address is None:
            yield problem("form", rail)
            continue
        lacking = [own for own in fleets if own and rail.gateway not in own]
        if gateway not in own_address.network:
            yield problem("outside", rail)
        elif case.absent and (rail.device, rail.port) not in ends:
            continue
        elif any(own.keys() & gateways for own in lacking) or (
            lacking and len(lacking) == len(fleets)
        ):
            yield problem("absent", rail)
        else:
            yield from _ends(rail, [own[rail.gateway] for own in fleets if rail.gateway in own])
    yield from _cabled(case, {rail.gateway: rail for rail in rails}, cables)


def _ends(one: Address, switches: list[Address]) -> Found:
    for other in switches:
        length = other.address.partition("/")[2]
        if length and length != one.address.partition("/")[2]:
            yield problem("length", other, one)


def _cabled(case: Case, rails: dict[str, Address], ports: list[Port]) -> Found:
    """Compare where the gateway of a host is with where the host is cabled."""
    cables = {(port.device, port.name): port for port in ports}
    hosts = {rail.device for rail in rails.values()}
    named = {(rail.device, rail.port) for rail in rails.values()}
    described = {port.device for port in ports}
    for switch in case.switches:
        for own in switch.of(Address):
            rail = rails.get(_host_part(own))
            port = cables.get((switch.name, own.port))
            if rail is None or switch.name not in described:
                continue
            far = (port.peer, port.peer_port) if port else None
            crossed = far in named and far != (rail.device, rail.port)
            if port is None:
                yield problem("cable", own, rail, end="and no cable is there")
            elif crossed or (port.peer in hosts and port.peer != rail.device):
                end = f"and is cabled to {port.peer} {port.peer_port}"
                yield problem("cable", own, rail, port, end=end)


_RESERVED: Final = frozenset({0, 23456, 65535})
_PRIVATE: Final = (range(64512, 65535), range(4_200_000_000, 4_294_967_295))


def bgp_asn(fleet: list[Device], case: Case) -> Found:
    speakers = {switch.name: speaker for switch in fleet for speaker in switch.of(Speaker)}
    for speaker in speakers.values():
        if not any(speaker.asn in span for span in _PRIVATE):
            sure = case.fabric or Side.JOB in case.sides
            severity = Severity.WARNING if sure else Severity.INFO
            reserved = speaker.asn in _RESERVED
            yield problem("public", speaker, severity=None if reserved else severity)
    for switch in fleet:
        cables = {port.name: port.peer for port in switch.of(Port) if port.peer}
        own = speakers.get(switch.name)
        for session in switch.of(Neighbor):
            other = speakers.get(cables.get(session.peer, ""))
            if own and other:
                yield from _session(own, other, session)
    yield from _leaves(fleet, case.absent)


def _session(own: Speaker, other: Speaker, session: Neighbor) -> Found:
    remote = whole(session.remote)
    if remote is not None and remote != other.asn:
        yield problem("remote", session, other, own=own, remote=remote)
    elif session.remote == "internal" and own.asn != other.asn:
        yield problem("internal", session, own, other)
    elif session.remote == "external" and own.asn == other.asn:
        yield problem("external", own, other)


def _leaves(fleet: list[Device], absent: frozenset[str]) -> Found:
    names = {switch.name for switch in fleet} | absent
    leaves = (switch for switch in fleet if _leaf(switch, names))
    speakers = (speaker for switch in leaves for speaker in switch.of(Speaker))
    for speaker, first in repeated(speakers, lambda speaker: speaker.asn):
        yield problem("leaves", speaker, first)


def bgp_paths(fleet: list[Device], case: Case) -> Found:
    speakers = {switch.name: speaker for switch in fleet for speaker in switch.of(Speaker)}
    for switch in fleet:
        sessions = [
            neighbor
            for neighbor in switch.of(Neighbor)
            if neighbor.unnumbered or neighbor.remote
        ]
        cables = {port.name: port.peer for port in switch.of(Port) if port.peer}
        paths = len(sessions)
        for speaker in switch.of(Speaker):
            few = speaker.paths is not None and speaker.paths < paths
            if few and (speaker.paths == 1 or _leaf(switch, speakers.keys() | case.absent)):
                yield problem("few", speaker, paths=paths, most=max(64, paths))
            known = [name for s in sessions if (name := cables.get(s.peer)) in speakers]
            peers = {speakers[name].asn for name in known if name}
            if speaker.relaxed is False and len(peers) > 1:
                yield problem("relaxed", speaker, peers=peers)


def _leaf(switch: Device, switches: AbstractSet[str]) -> bool:
    """Return whether all sessions lead upwards: the ports to hosts have none."""
    peers = {port.peer for port in switch.of(Port) if port.peer}
    return bool(peers - switches)


def bgp_session(fleet: list[Device]) -> Found:
    names = {switch.name for switch in fleet}
    for switch in fleet:
        yield from _unaddressed(switch)
        yield from _nameless(switch)
        for speaker in switch.of(Speaker):
            if speaker.announces is False and switch.of(Address):
                yield problem("silent", speaker)
        yield from _silent(switch, names)


def _unaddressed(switch: Device) -> Found:
    """Yield sessions over an interface that has no IPv6 address to speak from."""
    ports = {port.name: port for port in switch.of(Port)}
    for neighbor in switch.of(Neighbor):
        port = ports.get(neighbor.peer)
        if neighbor.unnumbered and port is not None and port.link_local is False:
            yield problem("link_local", port, neighbor)


def _nameless(switch: Device) -> Found:
    sessions = switch.of(Neighbor)
    if any(session.remote or session.unnumbered for session in sessions):
        for session in sessions:
            if not session.remote:
                yield problem("no_as", session)


def _silent(switch: Device, names: set[str]) -> Found:
    peers = {neighbor.peer for neighbor in switch.of(Neighbor)}
    uplinks = [port for port in switch.of(Port) if port.peer in names]
    spoken = [uplink for uplink in uplinks if uplink.name in peers]
    for uplink in uplinks if spoken else ():
        if uplink.name not in peers:
            yield problem("no_session", uplink)


_POLICIES: Final = ("net.ipv4.fib_multipath_hash_policy", "net.ipv6.fib_multipath_hash_policy")
_FORWARDS: Final = {
    "net.ipv4.ip_forward": _POLICIES[0], "net.ipv6.conf.all.forwarding": _POLICIES[1],
}  # fmt: skip
_LAYER_3: Final = "0"
_OFF: Final = "0"


def ecmp_hash(case: Case) -> Found:
    yield from _seeds(case)
    if any((speaker.paths or 2) > 1 for speaker in case.of(Speaker)):
        yield from _kernel(case)


def _seeds(case: Case) -> Found:
    """Report the switches that share a seed with a switch that they are connected to."""
    for fleet in case.fleets():
        seeds = {seed.device: seed for switch in fleet for seed in switch.of(HashSeed)}
        for switch in fleet:
            own = seeds.get(switch.name)
            peers = sorted({port.peer for port in switch.of(Port)} & seeds.keys())
            same = [seeds[peer] for peer in peers if own and seeds[peer].seed == own.seed]
            if own and same and own.device < same[0].device:
                yield problem("seeds", own, same[0])


def _kernel(case: Case) -> Found:
    """Judge the kernel of machines that forward: what they set is in a file of its own."""
    for own in grouped(case.options("sysctl"), path_of).values():
        rows = {option.name: option for option in own}
        for forward, policy in _FORWARDS.items():
            sets, hashes = rows.get(forward), rows.get(policy)
            if sets and sets.value == _OFF:
                yield problem("forwarding", sets)
            elif sets and (hashes is None or hashes.value == _LAYER_3):
                end = "" if hashes else ", its default"
                yield problem("kernel", hashes or sets, end=end, policy=policy)
