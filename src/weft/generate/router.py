"""What every switch of an Ethernet fabric is told to route, the same for every vendor."""

from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network
from typing import Final

from weft.generate.plan import Feature, Plan
from weft.generate.underlay import Underlay
from weft.generate.wiring import Port, Wired, wired
from weft.network.network import layout

PREFIX: Final = 31
"""Length of the prefix of a link to a host."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostLink:
    """A port with a host on it, and the leaf's address there."""

    port: Port
    address: IPv4Address
    device: str
    """RDMA device of the host, and its plane where it has several."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FabricLink:
    """A port to another switch, one session of BGP."""

    port: Port
    peer_asn: int
    across: bool = False
    """To another group, where groups are joined directly."""


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

    @property
    def name(self) -> str:
        """Name of the switch."""
        return self.switch.name


def routers(plan: Plan) -> Iterator[Router]:
    """Yield every switch of a plan, tier by tier."""
    underlay = underlay_of(plan)
    switches = tuple(wired(plan.cluster))
    asns = {one.name: underlay.asn(one.tier, one.number, one.group) for one in switches}
    tiers = {one.name: one.tier for one in switches}
    for switch in switches:
        yield Router(
            switch=switch, asn=asns[switch.name],
            loopback=underlay.loopback(switch.count),
            block=underlay.leaf_block(switch.number) if switch.tier == 0 else None,
            hosts=tuple(
                HostLink(
                    port=port, device=_device(plan, port),
                    address=underlay.link(switch.number, port.number)[0],
                )
                for port in switch.ports
                if port.host is not None
            ),
            fabric=tuple(
                FabricLink(
                    port=port, peer_asn=asns[port.peer],
                    across=tiers[port.peer] == switch.tier,
                )
                for port in switch.ports
                if port.host is None
            ),
        )  # fmt: skip


def _device(plan: Plan, port: Port) -> str:
    """Return the NIC on a port, with the plane where it has several."""
    device = plan.names.device_list()[port.peer_port]
    return f"{device}-plane{port.plane}" if Feature.PLANES in plan.features else device


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
