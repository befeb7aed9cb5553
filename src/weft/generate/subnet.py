"""The numbers of an InfiniBand subnet: lanes, partitions, keys, managers, routing engine."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from weft.generate.planned import Planned, constants, numbered
from weft.network.topology import Layout
from weft.spec.cluster import Cluster

MTU_CODE: Final = {256: 1, 512: 2, 1024: 3, 2048: 4, 4096: 5}
"""How the specification writes an MTU. [ibta]"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subnet:
    """What the subnet manager is told."""

    routing_engine: Planned
    adaptive_overlay: Planned
    """The engine of NVIDIA's own subnet manager, where that one runs."""
    sl: Planned
    """Service level of collectives; all else is on 0."""
    vl: Planned
    max_vls: Planned
    p_key: Planned
    """Of the default partition; its members are limited where there are tenants."""
    tenants: Mapping[str, Planned]
    """P_Keys by the name of the tenant."""
    m_key: Planned | None = None
    """None where the document has neither a site nor tenants."""
    m_key_protection_level: Planned
    m_key_lease_s: Planned
    mtu_code: Planned
    managers: Planned
    master_priority: Planned
    standby_priority: Planned
    sharp: Planned
    adaptive_sl_mask: Planned
    """Service levels that may take any path, a bit each."""


def subnet(cluster: Cluster, layout: Layout, path_mtu_bytes: int) -> Subnet:
    """Return the numbers of the subnet of a cluster."""
    apart = {
        "subnet_of_one_switch": layout.tiers == 1,
        "subnet_of_tenants": bool(cluster.tenants),
        "subnet_with_key": bool(cluster.site or cluster.tenants),
    }
    return Subnet(
        tenants=_tenants(cluster),
        mtu_code=numbered("subnet.mtu_code", MTU_CODE[path_mtu_bytes], path_mtu=path_mtu_bytes),
        sharp=numbered("subnet.sharp", cluster.fabric.in_network_reduction),
        **constants("subnet", *(part for part, applies in apart.items() if applies)),
    )


def _tenants(cluster: Cluster) -> dict[str, Planned]:
    taken = {tenant.p_key for tenant in cluster.tenants}
    free = (key for key in range(1, 0x7FFF) if key not in taken)
    return {
        tenant.name: numbered("tenants.p_key", f"0x{tenant.p_key:04x}")
        if tenant.p_key
        else numbered("tenants.next_p_key", f"0x{next(free):04x}")
        for tenant in cluster.tenants
    }
