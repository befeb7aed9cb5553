"""PXN: what goes to another rail crosses NVLink first, to the GPU with the NIC of that rail.

NCCL sends between any two GPUs of two hosts (all-to-all, send/recv) then keep to one rail: the
sender writes into a buffer of the GPU next to the NIC of the receiver's rail, and that NIC
sends. Without PXN each GPU sends from its own NIC, and of *n* rails 1 / n of an exchange stays
on its own; the rest crosses the spines, where rails have leaves of their own [NCCL 2.12;
sjeaugey in NVIDIA/nccl#2193].
"""

from typing import Final

from weft.spec.cluster import Cluster

SINCE: Final = (2, 12)
"""First release of NCCL that has it."""
FIRST_PIECE_BYTES: Final = 1 << 17
"""What is handed over before the NIC begins: NCCL_P2P_NET_CHUNKSIZE by default."""
_USUAL: Final = {"nvlink": True, "xgmi": False}
"""By the links of GPUs: RCCL leaves it off by default [ROCm/rccl#1209]; PCIe cannot have it."""


def is_used(cluster: Cluster) -> bool:
    """Whether sends between rails go over NVLink to the NIC of the receiver's rail.

    ``nccl.env`` decides by NCCL_PXN_DISABLE and NCCL_P2P_PXN_LEVEL (0: never). Where rails are
    not joined it is taken to be on, since nothing else works there.

    >>> from weft.spec.load import preset
    >>> is_used(preset("dgx_h100"))
    True
    >>> is_used(preset("dgx_h100", nccl={"env": {"NCCL_PXN_DISABLE": "1"}}))
    False
    """
    up, env = cluster.host.scale_up, cluster.nccl.env
    if up.kind not in _USUAL or up.gpus == 1 or cluster.nccl.release < SINCE:
        return False
    if env.get("NCCL_P2P_PXN_LEVEL") == "0":
        return False
    asked = env.get("NCCL_PXN_DISABLE")
    if asked is not None:
        return asked == "0"
    return _USUAL[up.kind] or cluster.topology.kind == "rail_only"


def said(cluster: Cluster) -> str:
    """Say which way sends between rails take."""
    if is_used(cluster):
        return (
            f"sends to another rail go over NVLink to its NIC (PXN), which begins once "
            f"{FIRST_PIECE_BYTES >> 10} KiB are there"
        )
    return "sends to another rail cross the switches that join rails (no PXN)"


def handing_over_s(cluster: Cluster, size_bytes: float) -> float:
    """Return the time until the NIC of the other rail has something to send.

    The rest follows while it sends: NVLink is faster than a NIC.
    """
    return min(size_bytes, FIRST_PIECE_BYTES) / cluster.host.scale_up.bytes_per_s
