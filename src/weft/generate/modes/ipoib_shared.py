"""RDMA devices shared by all pods, each with an IP address over InfiniBand."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from weft.generate.attachment import (
    MELLANOX,
    as_json,
    component,
    ipam,
    kubernetes,
    meta,
    rails,
    shared_policy,
)
from weft.generate.manifest import Manifest, Value
from weft.generate.mode import INFINIBAND, Mode

if TYPE_CHECKING:
    from weft.generate.plan import Plan


def _policy(plan: "Plan") -> Mapping[str, Value]:
    return {
        **shared_policy(plan),
        "secondaryNetwork": {"ipoib": component(plan, "ipoib-cni")},
    }


def _networks(plan: "Plan") -> Iterator[Manifest]:
    part = kubernetes(plan)
    for rail in rails(plan):
        yield {
            "apiVersion": MELLANOX,
            "kind": "IPoIBNetwork",
            "metadata": meta(part.network_list()[rail]),
            "spec": {
                "networkNamespace": part.namespace.text(),
                "master": part.interface_list()[rail],
                "ipam": as_json(ipam(plan, rail)),
            },
        }


ipoib_shared = Mode(
    title="IPoIB with shared RDMA devices",
    fabrics=INFINIBAND,
    nic_vendor="NVIDIA",
    why="the host keeps its NICs and shares their RDMA devices; the subnet manager needs to "
    "know nothing of pods, and nothing keeps one pod's traffic from another's",
    rank=30,
    resource="rdma/rdma_shared_resource_rail_N",
    network="ipoib-network-rail-N",
    policy=_policy,
    networks=_networks,
)
