"""Addresses and AS numbers of an Ethernet fabric: BGP unnumbered between switches."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network
from typing import Final

from weft.errors import Infeasible
from weft.generate.planned import Planned
from weft.network.topology import Layout, Mesh, uplinks

POOLS: Final = ("172.16.0.0/12", "10.128.0.0/9")
LOOPBACKS: Final = "100.64.0.0/10"
TENANT_LINKS: Final = "100.96.0.0/11"
"""The upper half of the loopbacks'."""
CORE_ASN: Final = 4_200_000_000
SPINE_ASN: Final = 4_200_001_000
LEAF_ASN: Final = 4_200_100_000
FIRST_TAG: Final = 101
LAST_TAG: Final = 999
"""Of tenants; with three digits the name of a sub-interface stays within Linux' 15 letters."""
KEEPALIVE_S: Final = 3
HOLD_S: Final = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class Underlay:
    """How the switches find one another, and which addresses the NICs have."""

    sessions: Planned
    pool: Planned
    """Links to hosts: one block of it a leaf, two addresses a port."""
    leaf_prefix: Planned
    rails: Planned
    """Rails with leaves of their own; 1 where one leaf has NICs of all."""
    rail_prefix: Planned
    """Length of the prefix that holds the leaves of one rail and nothing else."""
    loopbacks: Planned
    leaf_asn: Planned
    """Of the first leaf; each further one adds 1."""
    spine_asn: Planned
    """Of the spines of the first group; each further group adds 1."""
    core_asn: Planned
    most_paths: Planned
    """Equal paths that a switch uses at once."""
    keepalive_s: Planned
    hold_s: Planned
    radix: int
    """Ports of a switch."""
    tenants: Mapping[str, Planned]
    """Tag of the sub-interfaces between switches of each tenant's VRF."""
    tenant_links: Planned | None
    """Addresses of those sub-interfaces, the same in every VRF; None without tenants."""
    between_groups: Planned | None
    """What the groups of a dragonfly+ tell one another."""

    def leaf_block(self, leaf: int) -> IPv4Network:
        """Return the addresses below one leaf: those of a rail follow one another."""
        unit, rail = divmod(leaf, self.rails.whole())
        first = rail * 2 ** (self.leaf_prefix.whole() - self.rail_prefix.whole())
        return _block(self.pool.text(), self.leaf_prefix.whole(), first + unit)

    def link(self, leaf: int, port: int) -> tuple[IPv4Address, IPv4Address]:
        """Return the addresses of a leaf's port and of the NIC on it, a /31 together."""
        first = self.leaf_block(leaf).network_address + 2 * port
        return first, first + 1

    def between(self, switch: int, port: int) -> tuple[IPv4Address, IPv4Address]:
        """Return the addresses of a sub-interface, of the lower switch and of the upper."""
        assert self.tenant_links is not None, "asked of tenants alone"
        first = IPv4Network(self.tenant_links.text()).network_address
        first += 2 * (switch * self.radix + port)
        return first, first + 1

    def loopback(self, switch: int) -> IPv4Address:
        """Return the address of a switch itself; switches are counted over all tiers."""
        return IPv4Network(self.loopbacks.text()).network_address + 1 + switch

    def asn(self, tier: int, number: int, group: int) -> int:
        """Return the AS number of a switch."""
        firsts = (self.leaf_asn.whole() + number, self.spine_asn.whole() + group,
                  self.core_asn.whole())  # fmt: skip
        return firsts[tier]


@lru_cache(maxsize=8192)
def _block(pool: str, length: int, leaf: int) -> IPv4Network:
    network = IPv4Network(pool)
    first = int(network.network_address) + leaf * 2 ** (network.max_prefixlen - length)
    return IPv4Network((first, length))


def underlay(layout: Layout, tenants: Sequence[str] = ()) -> Underlay:
    """Return the numbering of a layout's switches and host links, and the tags of tenants."""
    length = 32 - (2 * layout.radix - 1).bit_length()
    rails = layout.rails if layout.leaf % layout.rails == 0 else 1
    rail_length = length - (layout.leaf // rails - 1).bit_length()
    blocks = rails * 2 ** (length - rail_length)
    return Underlay(
        sessions=Planned(
            value="unnumbered eBGP", source="rfc5549",
            reason="one session a link over its link-local IPv6 address: no addresses to "
            "plan, and a miscabled link cannot carry a wrong one"),
        pool=Planned(
            value=_pool(blocks, length), source="rfc3021",
            reason=f"{layout.leaf} leaves x a /{length} of /31 links; change it where the "
            "site has it in use"),
        rails=Planned(value=rails, reason="rails with leaves of their own"),
        rail_prefix=Planned(
            value=rail_length, source="rfc3021",
            reason="the leaves of one rail: a route and a pool of addresses for each rail, "
            "and none for two"),
        leaf_prefix=Planned(
            value=length, source="rfc3021",
            reason=f"two addresses for each of {layout.radix} ports, one route a leaf"),
        loopbacks=Planned(value=LOOPBACKS, source="estimate",
                          reason="shared address space, seen nowhere outside the fabric"),
        leaf_asn=Planned(value=LEAF_ASN, source="rfc6996",
                         reason="private 4-byte number, one a leaf"),
        spine_asn=Planned(
            value=SPINE_ASN, source="rfc7938",
            reason="one for all spines of a group: a path through two of them is refused, "
            "so no route leads down and up again"),
        core_asn=Planned(value=CORE_ASN, source="rfc7938", reason="one for all cores"),
        most_paths=Planned(
            value=_most_paths(layout), source="rfc7938",
            reason="the links that a leaf or a spine has upwards: ECMP over all of them"),
        keepalive_s=Planned(value=KEEPALIVE_S, unit="s", source="frr_datacenter",
                            reason="three of them make the hold time"),
        hold_s=Planned(
            value=HOLD_S, unit="s", source="frr_datacenter",
            reason="a dead peer whose link stays up is dropped in 9 s, not in 3 min; a link "
            "that goes down ends its session at once"),
        radix=layout.radix, tenants=_tags(tenants),
        tenant_links=_tenant_links(layout) if tenants else None,
        between_groups=_between(layout),
    )  # fmt: skip


def _tags(tenants: Sequence[str]) -> dict[str, Planned]:
    if len(tenants) > LAST_TAG - FIRST_TAG + 1:
        raise Infeasible(f"{len(tenants)} tenants: tags of VRFs are {FIRST_TAG} to {LAST_TAG}")
    return {
        name: Planned(
            value=FIRST_TAG + number, source="ieee_8021q",
            reason="a VRF of its own on each switch below which it has hosts, and of links "
            "between them a sub-interface with this tag and a session of BGP",
        )
        for number, name in enumerate(tenants)
    }  # fmt: skip


def _tenant_links(layout: Layout) -> Planned:
    ports = (layout.leaf + layout.spine + layout.core) * layout.radix
    if 2 * ports > IPv4Network(TENANT_LINKS).num_addresses:
        raise Infeasible(f"{ports} ports of switches with two addresses each do not fit in "
                         f"{TENANT_LINKS}")  # fmt: skip
    return Planned(
        value=TENANT_LINKS, source="rfc3021",
        reason="a /31 a cable, seen nowhere else and the same in every VRF: sessions of "
        "sub-interfaces have addresses, for SONiC's model takes no sub-interface as a peer",
    )  # fmt: skip


def _between(layout: Layout) -> Planned | None:
    if not isinstance(layout.wiring, Mesh):
        return None
    return Planned(
        value="own routes only", source="rfc7938",
        reason="a path through a third group could close a circle of pauses, and takes the "
        "links of two others; groups whose direct links are all gone are apart",
    )  # fmt: skip


def _most_paths(layout: Layout) -> int:
    """Return the most links upwards of one switch, or across where groups are joined."""
    return max(1, *uplinks(layout))


def _pool(leaves: int, length: int) -> str:
    for pool in POOLS:
        if leaves <= 2 ** (length - IPv4Network(pool).prefixlen):
            return pool
    raise Infeasible(f"{leaves} leaves of a /{length} each do not fit in {POOLS[-1]}")
