"""NICs claimed as devices: dynamic resource allocation with DRANET."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from weft.generate.attachment import kubernetes, meta, rails
from weft.generate.manifest import Manifest, Value
from weft.generate.mode import ETHERNET, Mode

if TYPE_CHECKING:
    from weft.generate.plan import Plan

DRIVER: Final = "dra.net"
API: Final = "resource.k8s.io/v1"


def _networks(plan: "Plan") -> Iterator[Manifest]:
    part = kubernetes(plan)
    assert part.device_class is not None, "pods of this mode claim devices"
    assert part.claim is not None, "as above"
    name = part.device_class.text()
    rule = f'device.driver == "{DRIVER}" && device.attributes["{DRIVER}"].rdma == true'
    yield {
        "apiVersion": API,
        "kind": "DeviceClass",
        "metadata": meta(name),
        "spec": {"selectors": [{"cel": {"expression": rule}}]},
    }
    yield {
        "apiVersion": API,
        "kind": "ResourceClaimTemplate",
        "metadata": meta(part.claim.text(), part.namespace.text()),
        "spec": {
            "spec": {
                "devices": {
                    "requests": [_request(plan, name, rail) for rail in rails(plan)],
                    "config": [_config(plan, rail) for rail in rails(plan)],
                }
            }
        },
    }


def _request(plan: "Plan", name: str, rail: int) -> dict[str, Value]:
    own = kubernetes(plan).interface_list()[rail]
    rule = f'device.attributes["{DRIVER}"].ifName == "{own}"'
    return {
        "name": f"rail-{rail}",
        "exactly": {"deviceClassName": name, "selectors": [{"cel": {"expression": rule}}]},
    }


def _config(plan: "Plan", rail: int) -> dict[str, Value]:
    """Name the interface as Multus would; its address and routes move along from the host."""
    own: dict[str, Value] = {"name": f"net{rail + 1}"}
    if plan.underlay is not None and plan.link.host_mtu_bytes is not None:
        own["mtu"] = plan.link.host_mtu_bytes.whole()
    return {
        "requests": [f"rail-{rail}"],
        "opaque": {"driver": DRIVER, "parameters": {"interface": own}},
    }


dranet = Mode(
    title="DRANET: NICs claimed as devices",
    fabrics=ETHERNET | {"ultra_ethernet"},
    one_pod_a_host="a NIC is claimed by one pod, and several pods are to share a host",
    why="NICs of any maker and no operator of NVIDIA's; Kubernetes 1.34 or newer with DRANET, "
    "and a NIC takes the address that the host gave it into the pod: look there with ip rule "
    "that its routes by source came along",
    rank=40,
    claim=True,
    networks=_networks,
)
