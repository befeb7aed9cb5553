"""RDMA devices shared by all pods, each with a MAC address of its own, on Ethernet."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from weft.generate.attachment import (
    MELLANOX,
    as_json,
    further_text,
    ipam,
    kubernetes,
    meta,
    rails,
    shared_policy,
)
from weft.generate.manifest import Manifest
from weft.generate.mode import ETHERNET, Mode

if TYPE_CHECKING:
    from weft.generate.plan import Plan


def _networks(plan: "Plan") -> Iterator[Manifest]:
    part = kubernetes(plan)
    mtu = plan.link.host_mtu_bytes
    assert mtu is not None, "an Ethernet plan has the MTU of its hosts"
    for rail in rails(plan):
        yield {
            "apiVersion": MELLANOX,
            "kind": "MacvlanNetwork",
            "metadata": meta(part.network_list()[rail]),
            "spec": {
                "networkNamespace": part.namespace.text(),
                "master": part.interface_list()[rail],
                "mode": "bridge",
                "mtu": mtu.whole(),
                "ipam": as_json(ipam(plan, rail)),
                **further_text(plan, with_mtu=False),
            },
        }


macvlan_shared = Mode(
    title="macvlan with shared RDMA devices",
    fabrics=ETHERNET,
    nic_vendor="NVIDIA",
    one_pod_a_host="every pod needs an address of its own on each rail, and the plan routes "
    "one to a NIC",
    why="the host keeps its NICs and shares their RDMA devices; nothing keeps one pod's "
    "traffic from another's, and a NIC left at MTU 1500 stops the pod",
    rank=30,
    resource="rdma/rdma_shared_resource_rail_N",
    network="macvlan-network-rail-N",
    policy=shared_policy,
    networks=_networks,
)
