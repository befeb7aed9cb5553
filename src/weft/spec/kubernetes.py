"""What Kubernetes is asked for, where weft should not choose by itself."""

from typing import Annotated

from pydantic import BeforeValidator, Field

from weft.spec.base import Part

Names = Annotated[
    tuple[str, ...],
    BeforeValidator(lambda value: tuple(value) if isinstance(value, list) else value),
]


class Kubernetes(Part):
    """How pods of this cluster reach the network and what they run."""

    mode: str | None = None
    """host_device, sriov_ethernet, dranet, ...; none: chosen from the cluster, with reasons."""
    namespace: str = "default"
    """Namespace of the jobs and of the networks that they ask for."""
    pods_per_host: Annotated[int, Field(ge=1)] = 1
    """Pods that share a host and its NICs; 1: a job takes whole hosts."""
    interfaces: Names = ()
    """Network interfaces of the compute NICs, rail by rail; none: eth_r0, eth_r1, ..."""
    pci_addresses: Names = ()
    """PCI addresses of the compute NICs, rail by rail: lets the operator name and tune them."""
    image: str = "nvcr.io/nvidia/pytorch:25.10-py3"
    """Image of the training job; it has torchrun and the script."""
    script: str = "/workspace/train.py"
    """What torchrun runs in that image, with its arguments."""
    tools_image: str = (
        "ghcr.io/coreweave/nccl-tests:12.9.1-devel-ubuntu22.04-nccl2.27.5-1-0120901"
    )
    """Image with MPI, sshd, nccl-tests (in /opt/nccl_tests/build) and perftest."""
    ray_image: str = "rayproject/ray:2.46.0-gpu"
    """Image of a Ray cluster; the same Ray as the client's."""
