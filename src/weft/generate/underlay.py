"""Addresses and AS numbers of an Ethernet fabric: BGP unnumbered between switches."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network
from typing import Final

from weft.errors import Infeasible
from weft.generate.planned import Planned, constants, numbered
from weft.network.topology import Layout, Mesh, uplinks

POOLS: Final = ("172.16.0.0/12", "10.128.0.0/9")
TENANT_LINKS: Final = "100.96.0.0/11"
"""The upper half of the loopbacks'."""
FIRST_TAG: Final = 101
LAST_TAG: Final = 999
"""Of tenants; with three digits the name of a sub-interface stays within Linux' 15 letters."""


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
    between_groups: Planned | None = None
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
    mesh = ["underlay_of_mesh"] if isinstance(layout.wiring, Mesh) else []
    return Underlay(
        pool=numbered("underlay.pool", _pool(blocks, length),
                      leaves=layout.leaf, length=length),
        rails=numbered("underlay.rails", rails),
        rail_prefix=numbered("underlay.rail_prefix", rail_length),
        leaf_prefix=numbered("underlay.leaf_prefix", length, ports=layout.radix),
        most_paths=numbered("underlay.most_paths", max(1, *uplinks(layout))),
        radix=layout.radix, tenants=_tags(tenants),
        tenant_links=_tenant_links(layout) if tenants else None,
        **constants("underlay", *mesh),
    )  # fmt: skip


def _tags(tenants: Sequence[str]) -> dict[str, Planned]:
    if len(tenants) > LAST_TAG - FIRST_TAG + 1:
        raise Infeasible(f"{len(tenants)} tenants: tags of VRFs are {FIRST_TAG} to {LAST_TAG}")
    return {
        name: numbered("underlay_of_tenants.tag", tag)
        for tag, name in enumerate(tenants, FIRST_TAG)
    }


def _tenant_links(layout: Layout) -> Planned:
    ports = (layout.leaf + layout.spine + layout.core) * layout.radix
    if 2 * ports > IPv4Network(TENANT_LINKS).num_addresses:
        raise Infeasible(f"{ports} ports of switches with two addresses each do not fit in "
                         f"{TENANT_LINKS}")  # fmt: skip
    return numbered("underlay_of_tenants.links", TENANT_LINKS)


def _pool(leaves: int, length: int) -> str:
    for pool in POOLS:
        if leaves <= 2 ** (length - IPv4Network(pool).prefixlen):
            return pool
    raise Infeasible(f"{leaves} leaves of a /{length} each do not fit in {POOLS[-1]}")
