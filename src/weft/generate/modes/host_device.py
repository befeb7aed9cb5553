"""Each NIC of a host as a whole: it moves into the pod and back."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from weft.generate.attachment import (
    MELLANOX,
    VENDOR,
    as_json,
    component,
    device_selector,
    further_text,
    ipam,
    kubernetes,
    meta,
    rails,
)
from weft.generate.manifest import Manifest, Value
from weft.generate.mode import ETHERNET, INFINIBAND, Mode

if TYPE_CHECKING:
    from weft.generate.plan import Plan


def _policy(plan: "Plan") -> Mapping[str, Value]:
    part = kubernetes(plan)
    resources = [
        {
            "resourcePrefix": part.resource_prefix(),
            "resourceName": part.resource_names()[rail],
            "selectors": {
                "vendors": [VENDOR],
                **device_selector(plan, rail),
                "isRdma": True,
            },
        }
        for rail in rails(plan)
    ]
    plugin = component(plan, "sriov-network-device-plugin")
    return {"sriovDevicePlugin": {**plugin, "config": as_json({"resourceList": resources})}}


def _networks(plan: "Plan") -> Iterator[Manifest]:
    part = kubernetes(plan)
    for rail in rails(plan):
        yield {
            "apiVersion": MELLANOX,
            "kind": "HostDeviceNetwork",
            "metadata": meta(part.network_list()[rail]),
            "spec": {
                "networkNamespace": part.namespace.text(),
                "resourceName": part.resource_names()[rail],
                "ipam": as_json(ipam(plan, rail)),
                **further_text(plan, with_mtu=True),
            },
        }


host_device = Mode(
    title="host device: whole NICs move into the pod",
    fabrics=ETHERNET | INFINIBAND,
    nic_vendor="NVIDIA",
    one_pod_a_host="a NIC moves into one pod, and several pods are to share a host",
    why="a job takes whole hosts, so its pod may have the NICs themselves: nothing lies "
    "between pod and NIC, no functions are to be made, and devices keep the names that "
    "NCCL_IB_HCA lists; storage and management stay on NICs of their own",
    rank=10,
    resource="nvidia.com/hostdev_resource_rail_N",
    network="hostdev-network-rail-N",
    policy=_policy,
    networks=_networks,
)
