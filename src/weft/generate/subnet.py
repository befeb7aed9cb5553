"""The numbers of an InfiniBand subnet: lanes, partition, subnet managers, routing engine."""

from dataclasses import dataclass
from typing import Final

from weft.generate.planned import Planned
from weft.network.topology import Layout

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
    mtu_code: Planned
    managers: Planned
    master_priority: Planned
    standby_priority: Planned
    sharp: Planned
    adaptive_sl_mask: Planned
    """Service levels that may take any path, a bit each."""


def subnet(layout: Layout, path_mtu_bytes: int, *, in_network_reduction: bool) -> Subnet:
    """Return the numbers of the subnet."""
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
            reason="one tenant: all are full members of the default partition. NCCL takes "
            "P_Key index 0, and two limited members cannot talk to each other"),
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
            value=in_network_reduction, source="cluster",
            reason="fabric.in_network_reduction; its aggregation manager runs beside the "
            "master and needs leaves that are rails"),
        adaptive_sl_mask=Planned(
            value="0xffff", source="mlnxsm",
            reason="every level, as is the default: NCCL has its own, but UCX, NVSHMEM and "
            "DeepEP send on level 0 and would stay on one path each"),
    )  # fmt: skip


def _engine(layout: Layout) -> Planned:
    if layout.tiers == 1:
        return Planned(value="minhop", source="opensm", reason="one switch: no choice to make")
    return Planned(
        value="ftree,updn", source="opensm",
        reason="ftree spreads the destinations evenly over a whole tree and is free of "
        "deadlock; updn, which needs no whole tree, takes over when switches are missing",
    )  # fmt: skip
