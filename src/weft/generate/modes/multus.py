"""Whole NICs of any maker: a network of Multus a rail, RDMA devices from the shared plug-in."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from weft.generate.attachment import (
    as_json,
    further,
    ipam,
    kubernetes,
    meta,
    rails,
    shared_devices,
)
from weft.generate.manifest import Manifest
from weft.generate.mode import ETHERNET, Mode

if TYPE_CHECKING:
    from weft.generate.plan import Plan


def _networks(plan: "Plan") -> Iterator[Manifest]:
    part = kubernetes(plan)
    yield {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": meta("rdma-devices", "kube-system"),
        "data": {"config.json": as_json(shared_devices(plan))},
    }
    for rail in rails(plan):
        name = part.network_list()[rail]
        first = {
            "type": "host-device",
            "device": part.interface_list()[rail],
            "ipam": ipam(plan, rail),
        }
        config = {
            "cniVersion": "0.3.1",
            "name": name,
            "plugins": [first, *further(plan, with_mtu=True)],
        }
        yield {
            "apiVersion": "k8s.cni.cncf.io/v1",
            "kind": "NetworkAttachmentDefinition",
            "metadata": meta(name, part.namespace.text()),
            "spec": {"config": as_json(config)},
        }


multus = Mode(
    title="Multus alone: whole NICs of any maker move into the pod",
    fabrics=ETHERNET,
    one_pod_a_host="a NIC moves into one pod, and several pods are to share a host",
    why="NICs of any maker: Multus, nv-ipam and k8s-rdma-shared-dev-plugin, each installed by "
    "itself, and networks that name the interface",
    rank=35,
    resource="rdma/rdma_shared_resource_rail_N",
    network="multus-rail-N",
    networks=_networks,
)
