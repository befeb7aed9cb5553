"""A virtual function of each NIC, on InfiniBand."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from weft.generate.attachment import function_networks
from weft.generate.manifest import Manifest
from weft.generate.mode import INFINIBAND, Mode

if TYPE_CHECKING:
    from weft.generate.plan import Plan


def _networks(plan: "Plan") -> Iterator[Manifest]:
    return function_networks(plan, "SriovIBNetwork", "IB", {"linkState": "enable"})


sriov_infiniband = Mode(
    title="SR-IOV on InfiniBand: a virtual function of each NIC",
    fabrics=INFINIBAND,
    nic_vendor="NVIDIA",
    why="pods that share a host each get a function of every NIC, apart from the others; the "
    "subnet manager must know virtual ports (virt_enabled 2 in NVIDIA's; OpenSM of the "
    "distributions does not)",
    rank=20,
    resource="nvidia.com/sriov_resource_rail_N",
    network="sriov-network-rail-N",
    keeps_device_names=False,
    functions=True,
    policy=lambda _: {},
    networks=_networks,
)
