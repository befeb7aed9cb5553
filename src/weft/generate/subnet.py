"""The numbers of an InfiniBand subnet: lanes, partitions, keys, managers, routing engine."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from weft.generate.planned import Planned
from weft.generate.rendered import PLACEHOLDER
from weft.network.topology import Layout
from weft.spec.cluster import Cluster

COLLECTIVE_SL: Final = 1
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
    m_key: Planned | None
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
    return Subnet(
        routing_engine=_engine(layout),
        adaptive_overlay=Planned(
            value="ar_updn", source="opensm",
            reason="default of NVIDIA's MLNXSM from 5.10 and of UFM; OpenSM has no adaptive "
            "routing, so this belongs in their configuration alone"),
        sl=Planned(
            value=COLLECTIVE_SL, source="opensm",
            reason="collectives apart from management and IPoIB, which stay on SL 0: their "
            "counters and adaptive routing can be told apart"),
        vl=Planned(value=1, source="weft", reason="SL 1 maps to the lane of its number"),
        max_vls=Planned(
            value=2, source="ibta",
            reason="two lanes are used; fewer lanes leave more buffer to each"),
        p_key=Planned(
            value="0x7fff", source="ibta",
            reason="hosts are limited members of the default partition: they reach the "
            "subnet manager and not one another; the partition of their tenant is at index "
            "0 (indx0), which NCCL, UCX and NVSHMEM take" if cluster.tenants else
            "one tenant: all are full members of the default partition. NCCL takes "
            "P_Key index 0, and two limited members cannot talk to each other"),
        tenants=_tenants(cluster),
        m_key=Planned(
            value=f"{PLACEHOLDER}M_KEY", source="opensm",
            reason="64 random bits, the same in both subnet managers and secret: without it "
            "whoever is root on a host can set the ports of every other host",
        ) if cluster.site or cluster.tenants else None,
        m_key_protection_level=Planned(
            value=1, source="opensm",
            reason="nobody reads the key of a port; diagnostics still read all else"),
        m_key_lease_s=Planned(
            value=60, unit="s", source="opensm",
            reason="a few sweeps of 10 s each: a lost key opens again after it, and not "
            "while the subnet manager lives"),
        mtu_code=Planned(
            value=MTU_CODE[path_mtu_bytes], source="ibta",
            reason=f"{path_mtu_bytes} B as the specification writes it"),
        managers=Planned(
            value="sm-0, sm-1", source="estimate",
            reason="a master and one standby, on machines that run no job and hang on "
            "different leaves; never more than one master"),
        master_priority=Planned(
            value=15, source="opensm", reason="the highest there is, so nothing outbids it"),
        standby_priority=Planned(
            value=14, source="opensm",
            reason="below the master: equal priorities leave the choice to the GUIDs"),
        sharp=Planned(
            value=cluster.fabric.in_network_reduction, source="cluster",
            reason="fabric.in_network_reduction; its aggregation manager runs beside the "
            "master and needs leaves that are rails"),
        adaptive_sl_mask=Planned(
            value="0xffff", source="mlnxsm",
            reason="every level, as is the default: NCCL has its own, but UCX, NVSHMEM and "
            "DeepEP send on level 0 and would stay on one path each"),
    )  # fmt: skip


def _tenants(cluster: Cluster) -> dict[str, Planned]:
    taken = {tenant.p_key for tenant in cluster.tenants}
    free = (key for key in range(1, 0x7FFF) if key not in taken)
    return {
        tenant.name: Planned(value=f"0x{tenant.p_key:04x}", source="cluster", reason="p_key")
        if tenant.p_key
        else Planned(value=f"0x{next(free):04x}", reason="the next one that is free")
        for tenant in cluster.tenants
    }


def _engine(layout: Layout) -> Planned:
    if layout.tiers == 1:
        return Planned(value="minhop", source="opensm", reason="one switch: no choice to make")
    return Planned(
        value="ftree,updn", source="opensm",
        reason="ftree spreads the destinations evenly over a whole tree and is free of "
        "deadlock; updn, which needs no whole tree, takes over when switches are missing",
    )  # fmt: skip
