"""What every switch of an Ethernet fabric is told to route, the same for every vendor."""

from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network

from weft.generate.plan import Plan
from weft.generate.underlay import Underlay
from weft.generate.wiring import Port, Wired, wired

PREFIX: int = 31
"""Length of the prefix of a link to a host."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostLink:
    """A port with a host on it, and the leaf's address there."""

    port: Port
    address: IPv4Address
    device: str
    """RDMA device of the host."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Router:
    """One switch as BGP and its neighbours know it."""

    switch: Wired
    asn: int
    loopback: IPv4Address
    block: IPv4Network | None
    """All addresses below a leaf, which it announces as one; none above the leaves."""
    hosts: tuple[HostLink, ...]
    fabric: tuple[Port, ...]
    """Ports to other switches, one session each."""

    @property
    def name(self) -> str:
        """Name of the switch."""
        return self.switch.name


def routers(plan: Plan) -> Iterator[Router]:
    """Yield every switch of a plan, tier by tier."""
    underlay = underlay_of(plan)
    devices = plan.names.device_list()
    for switch in wired(plan.cluster):
        yield Router(
            switch=switch,
            asn=underlay.asn(switch.tier, switch.number, switch.group),
            loopback=underlay.loopback(switch.count),
            block=underlay.leaf_block(switch.number) if switch.tier == 0 else None,
            hosts=tuple(
                HostLink(
                    port=port, device=devices[port.peer_port],
                    address=underlay.link(switch.number, port.number)[0],
                )
                for port in switch.ports
                if port.host is not None
            ),
            fabric=tuple(port for port in switch.ports if port.host is None),
        )  # fmt: skip


def underlay_of(plan: Plan) -> Underlay:
    """Return the underlay of a plan whose fabric has one."""
    assert plan.underlay is not None, "refused where there is no underlay"
    return plan.underlay
