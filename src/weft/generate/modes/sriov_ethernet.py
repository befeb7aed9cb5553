"""A virtual function of each NIC, on Ethernet."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from weft.generate.attachment import function_networks, further_text
from weft.generate.manifest import Manifest
from weft.generate.mode import ETHERNET, Mode

if TYPE_CHECKING:
    from weft.generate.plan import Plan


def _networks(plan: "Plan") -> Iterator[Manifest]:
    return function_networks(plan, "SriovNetwork", "ETH", further_text(plan, with_mtu=False))


sriov_ethernet = Mode(
    title="SR-IOV on Ethernet: a virtual function of each NIC",
    fabrics=ETHERNET,
    nic_vendor="NVIDIA",
    one_pod_a_host="every pod needs an address of its own on each rail, and the plan routes "
    "one to a NIC",
    why="the host keeps its NICs and pods get functions of them; those have device names of "
    "their own, and the NIC itself must give its address to the function",
    rank=20,
    resource="nvidia.com/sriov_resource_rail_N",
    network="sriov-network-rail-N",
    keeps_device_names=False,
    functions=True,
    policy=lambda _: {},
    networks=_networks,
)
