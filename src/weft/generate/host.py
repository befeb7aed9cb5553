"""What the operating system of a host has to let RDMA do: memory, PCIe, GPU."""

from dataclasses import dataclass
from typing import Final

from weft import catalogue
from weft.catalogue.devices import Gpu, Server
from weft.generate.planned import Planned
from weft.spec.cluster import Cluster

VIRTUAL: Final = frozenset({"AWS", "Microsoft", "Google"})
"""Vendors whose rented hosts are virtual machines; Oracle's are whole machines."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostSettings:
    """Limits and switches of a host."""

    memlock: Planned
    acs: Planned
    """off, or kept where a hypervisor needs it."""
    gpu_memory: Planned
    """How the NIC reaches the memory of the GPU."""


def host_settings(cluster: Cluster) -> HostSettings:
    """Return the settings of the hosts of a cluster."""
    return HostSettings(
        memlock=Planned(
            value="unlimited", source="nccl_trouble",
            reason="RDMA pins the memory that it reads and writes"),
        acs=_acs(cluster), gpu_memory=_gpu_memory(cluster),
    )  # fmt: skip


def server_of(cluster: Cluster) -> Server | None:
    """Return the server of the catalogue that the hosts are; none where it is not named."""
    named = cluster.host.server
    return catalogue.find("servers", named) if named else None


def rented_from(cluster: Cluster) -> str | None:
    """Return the vendor that the hosts are rented from; none where they are bought."""
    server = server_of(cluster)
    return server.vendor if server is not None and server.cloud else None


def _acs(cluster: Cluster) -> Planned:
    if rented_from(cluster) in VIRTUAL:
        return Planned(
            value="kept", source="nccl_trouble",
            reason="a virtual machine: the hypervisor needs ACS, and ATS at the NIC makes "
            "up for it",
        )  # fmt: skip
    return Planned(
        value="off", source="nccl_trouble",
        reason="ACS sends what GPU and NIC have for each other up to the root complex and "
        "back; whole machines do without, with the IOMMU off or passing through",
    )  # fmt: skip


def _gpu_memory(cluster: Cluster) -> Planned:
    if not cluster.host.gpudirect:
        return Planned(value="copied", source="cluster", reason="host.gpudirect is false")
    gpu = catalogue.find("gpus", cluster.host.gpu)
    assert isinstance(gpu, Gpu)
    if gpu.vendor != "NVIDIA":
        return Planned(
            value="dma-buf", source="nccl_trouble",
            reason="the kernel hands buffers of the GPU's driver to the NIC's",
        )  # fmt: skip
    return Planned(
        value="dma-buf, else nvidia-peermem", source="nccl_trouble",
        reason="NVIDIA's open driver shares buffers by dma-buf; the closed one needs the "
        "module nvidia-peermem",
    )  # fmt: skip
