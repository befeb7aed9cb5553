"""What the modes of attachment share: addresses, further CNI plug-ins, selectors, images."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from weft.generate.manifest import Manifest, Value
from weft.generate.template import manifests_of

if TYPE_CHECKING:
    from weft.generate.kubernetes import Kubernetes
    from weft.generate.plan import Plan

HCA_MOST: Final = 63
"""Pods that share one device at most, as k8s-launch-kit sets it."""
_WIDTH: Final = 80
ARP: Final = {
    "net.ipv4.conf.IFNAME.arp_announce": "2",
    "net.ipv4.conf.IFNAME.arp_ignore": "1",
    "net.ipv4.conf.IFNAME.rp_filter": "2",
}
"""A rail answers for its own address alone, as the unit for hosts sets it too."""


def rails(plan: "Plan") -> range:
    """Return the numbers of the rails, which are those of the NICs."""
    return range(len(plan.names.device_list()))


def kubernetes(plan: "Plan") -> "Kubernetes":
    """Return the part of the plan; a target without it has been refused."""
    assert plan.kubernetes is not None, "a plan without it is refused"
    return plan.kubernetes


def by_tenant(plan: "Plan") -> Iterator[tuple[str, "Plan"]]:
    """Yield the plan of each tenant by its name; the whole plan by none where there is one."""
    for tenant, hosts in plan.cluster.groups():
        own = kubernetes(plan).of_tenant(tenant, len(hosts)) if tenant else kubernetes(plan)
        yield tenant, replace(plan, kubernetes=own)


def meta(name: str, namespace: str = "") -> Mapping[str, Value]:
    """Return the metadata of an object; without a namespace it is the cluster's."""
    return {"name": name, "namespace": namespace} if namespace else {"name": name}


def as_json(value: object) -> str:
    """Return JSON as it stands inside a manifest: on one line where it is short."""
    return _lines(value) + "\n"


def _lines(value: object) -> str:
    short = json.dumps(value)
    return short if len(short) <= _WIDTH else json.dumps(value, indent=2)


def ipam(plan: "Plan", rail: int) -> dict[str, str]:
    """Return where a pod's address on a rail is from."""
    part = kubernetes(plan)
    kind = "cidrpool" if plan.underlay is not None else "ippool"
    return {"type": "nv-ipam", "poolName": part.pools()[rail], "poolType": kind}


def further(plan: "Plan", *, with_mtu: bool) -> list[dict[str, object]]:
    """Return the CNI plug-ins after the first one: routes by source, ARP, MTU."""
    if plan.underlay is None:
        return []
    tuning: dict[str, object] = {"type": "tuning", "sysctl": ARP}
    if with_mtu and plan.link.host_mtu_bytes is not None:
        tuning["mtu"] = plan.link.host_mtu_bytes.whole()
    return [{"type": "sbr"}, tuning]


def further_text(plan: "Plan", *, with_mtu: bool) -> str:
    """Return them as NVIDIA's operators take them: objects with commas, without brackets."""
    return ",\n".join(_lines(row) for row in further(plan, with_mtu=with_mtu)) + "\n"


def component(plan: "Plan", image: str) -> dict[str, Value]:
    """Return where the image of one component of the operator is from."""
    part = kubernetes(plan)
    assert part.operator_version is not None, "the mode has a part in the operator"
    assert part.operator_repository is not None, "as its version"
    return {
        "image": image,
        "repository": part.operator_repository.text(),
        "version": f"network-operator-{part.operator_version.text()}",
    }


def node_selector(plan: "Plan") -> dict[str, Value]:
    """Return the label that hosts with NICs have."""
    label = kubernetes(plan).node_label
    assert label is not None, "the mode has a part in the operator"
    return {label.text(): "true"}


def shared_devices(plan: "Plan") -> dict[str, object]:
    """Return the configuration of the plug-in that shares RDMA devices."""
    part = kubernetes(plan)
    return {
        # The plug-in looks once: a NIC that a pod holds has left the host and would be missed.
        "periodicUpdateInterval": 0,
        "configList": [
            {
                "resourceName": part.resource_names()[rail],
                "rdmaHcaMax": HCA_MOST,
                "selectors": {"ifNames": [part.interface_list()[rail]]},
            }
            for rail in rails(plan)
        ],
    }


def of_mode(plan: "Plan", template: str) -> Iterator[Manifest]:
    """Yield what a template of a mode makes of a plan; nothing where it has none."""
    yield from manifests_of(
        f"kubernetes/modes/{template}.yaml.j2", plan=plan, part=kubernetes(plan),
        as_json=as_json, ipam=partial(ipam, plan), further=partial(further, plan),
        further_text=partial(further_text, plan), component=partial(component, plan),
        node_selector=partial(node_selector, plan),
        shared_devices=partial(shared_devices, plan),
    )  # fmt: skip
