"""Clusters that several tests of collectives use."""

from typing import Any

from weft.spec.cluster import Cluster, FabricChoice, Host, Nccl, ScaleUp, TopologyChoice

H100 = {"gpu": "h100_sxm", "rate": 50e9, "up": 450e9, "reduces": True}
A100 = {"gpu": "a100_sxm_80", "rate": 25e9, "up": 300e9, "reduces": False}


def cluster(
    hosts: int,
    *,
    gpu: str = "h100_sxm",
    gpus: int = 8,
    nics: int = 8,
    rate: float = 50e9,
    up: float = 450e9,
    reduces: bool = True,
    kind: str = "nvlink",
    fabric: str = "infiniband",
    env: dict[str, str] | None = None,
    version: str = "2.27.3",
    topology: TopologyChoice | None = None,
    pcie: float | None = None,
    gpudirect: bool = True,
    **choice: Any,
) -> Cluster:
    """Build a cluster in inside numbers."""
    return Cluster.model_construct(
        hosts=hosts,
        host=Host.model_construct(
            gpu=gpu, gpus=gpus, nic="", nics=nics, nic_bytes_per_s=rate,
            pcie_bytes_per_s=pcie, gpudirect=gpudirect,
            scale_up=ScaleUp.model_construct(
                kind=kind, gpus=gpus, bytes_per_s=up, in_network_reduction=reduces
            ),
        ),
        fabric=FabricChoice.model_construct(kind=fabric, **choice),
        topology=topology or TopologyChoice(),
        nccl=Nccl(version=version, env=env or {}),
    )  # fmt: skip
