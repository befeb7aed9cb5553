"""What the operating system of a host has to let RDMA do: memory, PCIe, GPU."""

from dataclasses import dataclass
from typing import Final

from weft import catalogue
from weft.design.bom import server_of
from weft.generate.planned import Planned, constants, numbered
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
    acs = "kept" if rented_from(cluster) in VIRTUAL else "off"
    return HostSettings(
        acs=numbered(f"host_acs.{acs}", acs),
        gpu_memory=numbered(f"host_gpu_memory.{_way_to_gpu(cluster)}"),
        **constants("host"),
    )


def rented_from(cluster: Cluster) -> str | None:
    """Return the vendor that the hosts are rented from; none where they are bought."""
    server = server_of(cluster)
    return server.vendor if server is not None and server.cloud else None


def _way_to_gpu(cluster: Cluster) -> str:
    if not cluster.host.gpudirect:
        return "copied"
    vendor = catalogue.find("gpus", cluster.host.gpu).vendor
    return "nvidia" if vendor == "NVIDIA" else "kernel"
