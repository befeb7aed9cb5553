"""What every switch of an Ethernet fabric is told to route, the same for every vendor."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from ipaddress import IPv4Address, IPv4Network
from typing import Final

from weft.generate.plan import Plan
from weft.generate.underlay import Underlay
from weft.generate.wiring import Port, Wired, wired
from weft.network.network import layout
from weft.spec.cluster import Cluster

PREFIX: Final = 31
"""Length of the prefix of a link to a host."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostLink:
    """A port with a host on it, and the leaf's address there."""

    port: Port
    address: IPv4Address
    device: str
    """RDMA device of the host, and its plane where it has several."""
    tenant: str
    """Of the host; empty where it has none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FabricLink:
    """A port to another switch, one session of BGP."""

    port: Port
    peer_asn: int
    across: bool = False
    """To another group, where groups are joined directly."""
    tenants: frozenset[str] = frozenset()
    """Those with hosts below both ends."""
    address: IPv4Address | None = None
    """Of its sub-interfaces, in the VRF of every tenant."""
    peer_address: IPv4Address | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Vrf:
    """One table of routes of a switch: of hosts without a tenant, or of one tenant."""

    name: str
    """Of the tenant; empty for the default."""
    tag: int
    """Of its sub-interfaces to other switches; 0 where it has the ports themselves."""
    block: IPv4Network | None
    """What it announces as one; None where it has no host."""
    hosts: tuple[HostLink, ...]
    fabric: tuple[FabricLink, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cages:
    """How the ports of a switch lie in its cages, all split alike."""

    count: int
    split: int
    """Ports of one cage."""

    def place(self, number: int) -> tuple[int, int]:
        """Return the cage of a port and its place in it, both from 0."""
        return divmod(number, self.split)


@dataclass(frozen=True, slots=True, kw_only=True)
class Router:
    """One switch as BGP and its neighbours know it."""

    switch: Wired
    asn: int
    loopback: IPv4Address
    block: IPv4Network | None
    """All addresses below a leaf, which it announces as one; none above the leaves."""
    hosts: tuple[HostLink, ...]
    fabric: tuple[FabricLink, ...]
    tenants: tuple[tuple[str, int], ...]
    """Names and tags of the tenants that have hosts below."""

    def vrfs(self) -> tuple[Vrf, ...]:
        """Return the default VRF, and that of each tenant with hosts below."""
        return tuple(self._vrf(name, tag) for name, tag in (("", 0), *self.tenants))

    def _vrf(self, name: str, tag: int) -> Vrf:
        hosts = tuple(host for host in self.hosts if host.tenant == name)
        return Vrf(
            name=name, tag=tag, hosts=hosts,
            block=self.block if hosts or not self.tenants else None,
            fabric=tuple(link for link in self.fabric if not name or name in link.tenants),
        )  # fmt: skip

    @property
    def name(self) -> str:
        """Name of the switch."""
        return self.switch.name


def routers(plan: Plan) -> Iterator[Router]:
    """Yield every switch of a plan, tier by tier."""
    underlay = underlay_of(plan)
    switches = tuple(wired(plan.cluster))
    asns = {
        switch.name: underlay.asn(switch.tier, switch.number, switch.group)
        for switch in switches
    }
    tiers = {switch.name: switch.tier for switch in switches}
    tenant_of, tags = _tenants(plan.cluster), underlay.tenants
    below = _below(switches, tiers, tenant_of)
    counts = {switch.name: switch.count for switch in switches}
    for switch in switches:
        own = below[switch.name]
        yield Router(
            switch=switch, asn=asns[switch.name],
            loopback=underlay.loopback(switch.count),
            block=underlay.leaf_block(switch.number) if switch.tier == 0 else None,
            hosts=tuple(
                HostLink(
                    port=port, device=plan.device(port.peer_port, port.plane),
                    address=underlay.link(switch.number, port.number)[0],
                    tenant=tenant_of.get(port.host, ""),
                )
                for port in switch.ports
                if port.host is not None
            ),
            tenants=tuple((name, tag.whole()) for name, tag in tags.items() if name in own),
            fabric=tuple(
                _subinterfaces(
                    FabricLink(
                        port=port, peer_asn=asns[port.peer],
                        across=tiers[port.peer] == switch.tier,
                        tenants=own & below[port.peer],
                    ),
                    underlay, switch.count, counts[port.peer],
                )
                for port in switch.ports
                if port.host is None
            ),
        )  # fmt: skip


def _subinterfaces(link: FabricLink, underlay: Underlay, own: int, peer: int) -> FabricLink:
    """Return a link with the addresses of its sub-interfaces; switches are counted."""
    if not link.tenants:
        return link
    if own < peer:
        address, far = underlay.between(own, link.port.number)
    else:
        far, address = underlay.between(peer, link.port.peer_port)
    return replace(link, address=address, peer_address=far)


def _tenants(cluster: Cluster) -> dict[int, str]:
    """Return the tenants by host."""
    return {
        host: name
        for name, hosts in (cluster.groups() if cluster.tenants else ())
        for host in hosts
    }


def _below(
    switches: Iterable[Wired], tiers: Mapping[str, int], tenant_of: Mapping[int, str]
) -> dict[str, frozenset[str]]:
    """Return the tenants with hosts below each switch; switches come tier by tier."""
    found: dict[str, frozenset[str]] = {}
    for switch in switches:
        lower = (
            found[port.peer]
            for port in switch.ports
            if port.host is None and tiers[port.peer] < switch.tier
        )
        here = (tenant_of.get(port.host) for port in switch.ports if port.host is not None)
        found[switch.name] = frozenset(filter(None, here)).union(*lower)
    return found


def underlay_of(plan: Plan) -> Underlay:
    """Return the underlay of a plan whose fabric has one."""
    assert plan.underlay is not None, "refused where there is no underlay"
    return plan.underlay


def cages(plan: Plan) -> Cages:
    """Return the cages of the plan's switch: as many as it has ports at its fastest rate."""
    network = layout(plan.cluster)
    by_rate = network.site.switch.radix
    count = by_rate[max(by_rate)]
    return Cages(count=count, split=network.radix // count)


OWN_ROUTES: Final = "^[0-9]*$"
"""Paths of AS numbers that a group tells to another: its own leaves' and spines'.

Longer ones lead through a third group, where pauses of several groups could wait for one
another in a circle; so there is no such route, even when all direct links are gone.
"""
