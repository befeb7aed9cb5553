"""Kubernetes: NVIDIA's network operator (or Multus, or DRANET), addresses, labels, limits."""

import math
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Final

from weft.generate.attachment import (
    by_tenant,
    component,
    meta,
    node_selector,
    rails,
)
from weft.generate.attachment import kubernetes as part_of
from weft.generate.kubernetes import TENANT_LABEL, against
from weft.generate.manifest import Manifest, Value, text
from weft.generate.mode import INFINIBAND, Mode
from weft.generate.plan import Feature, Plan
from weft.generate.rails import RAILS_HEAD, RailLink, rail_links, spanned
from weft.generate.target import Files, Proof, Target, header
from weft.network import naming
from weft.network.network import layout

PRIORITIES: Final = 8
IPAM: Final = "nv-ipam.nvidia.com/v1alpha1"
CONFIGURATION: Final = "configuration.net.nvidia.com/v1alpha1"
ADMISSION: Final = (
    "The API server needs the admission plug-in PodNodeSelector: it keeps the pods of a "
    "namespace on the hosts of its tenant, whose NICs "
)
MAX_READ_REQUEST_BYTES: Final = 4096
"""As NVIDIA's operator tunes NICs."""


def _files(plan: Plan) -> Files:
    part, mode = part_of(plan), part_of(plan).attached()
    yield "label-nodes", "\n".join(_labels(plan)) + "\n"
    yield "weft-memlock.conf", _limits(plan)
    if mode.policy is not None:
        yield "00-values.yaml", text([_values(plan)], _head(plan, "Helm values"))
        head = [*_head(plan, "the operator's parts"), f"{mode.title}: {part.mode.reason}"]
        yield "10-nic-cluster-policy.yaml", text([_policy(plan)], head)
        if part.pci_addresses is not None and part.nic_type is not None:
            tuned = [*_head(plan, "names and settings of NICs"), "Hosts restart for them."]
            yield "20-nic-configuration.yaml", text(_configuration(plan), tuned)
    if part.address_pools is not None:
        pools = _cidr_pools(plan) if plan.underlay is not None else _ip_pools(plan)
        yield "30-address-pools.yaml", text(pools, _head(plan, "addresses of pods"))
        if plan.underlay is not None:
            # The pods hold the addresses: the unit of the host is to give it none.
            yield "rails.tsv", RAILS_HEAD + "\n"
    if plan.cluster.tenants:
        own = "are in its VRF alone." if plan.underlay else "have its P_Key alone."
        head = [*_head(plan, "namespaces of the tenants"), ADMISSION + own]
        yield "05-tenants.yaml", text(_tenants(plan), head)
    networks = _networks(plan, mode)
    if networks:
        head = [*_head(plan, mode.title), f"{part.interfaces.reason}: {part.interfaces.text()}"]
        yield "40-networks.yaml", text(networks, head)


def _networks(plan: Plan, mode: Mode) -> list[Manifest]:
    """Return the networks of every tenant; what several have is there once."""
    found: list[Manifest] = []
    for _, own in by_tenant(plan):
        found += (one for one in mode.networks(own) if one not in found)
    return found


def _tenants(plan: Plan) -> Iterator[Manifest]:
    """Yield a namespace a tenant, bound to its hosts, and what it may ask for there."""
    for tenant, own in by_tenant(plan):
        part = part_of(own)
        yield {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {
                "name": tenant,
                "annotations": {
                    "scheduler.alpha.kubernetes.io/node-selector": f"{TENANT_LABEL}={tenant}"
                },
            },
        }
        pods = part.pods.whole()
        most = {part.gpu_resource.text(): pods * part.gpus_per_pod.whole()}
        most |= dict.fromkeys(part.resource_list(), pods)
        yield {
            "apiVersion": "v1",
            "kind": "ResourceQuota",
            "metadata": meta("devices", tenant),
            "spec": {"hard": {f"requests.{name}": str(count) for name, count in most.items()}},
        }


def _head(plan: Plan, what: str) -> list[str]:
    return [header(plan, what).removeprefix("# ")]


def _values(plan: Plan) -> Manifest:
    """Return the values of the chart of NVIDIA's network operator."""
    part = part_of(plan)
    functions = part.attached().functions
    values: dict[str, Value] = {
        "nfd": {"enabled": True},
        "sriovNetworkOperator": {"enabled": functions},
    }
    if functions:
        values["sriov-network-operator"] = {
            "operator": {"resourcePrefix": part.resource_prefix()},
            "sriovOperatorConfig": {"deploy": True},
        }
    return values


def _policy(plan: Plan) -> Manifest:
    """Return the one policy that a cluster has."""
    part, mode = part_of(plan), part_of(plan).attached()
    assert mode.policy is not None, "the caller has asked"
    own = dict(mode.policy(plan))
    further = own.pop("secondaryNetwork", {})
    assert isinstance(further, Mapping), "a mode adds CNI plug-ins by name"
    spec: dict[str, Value] = {
        "nvIpam": {**component(plan, "nvidia-k8s-ipam"), "enableWebhook": False},
        "secondaryNetwork": {
            "cniPlugins": component(plan, "plugins"),
            "multus": component(plan, "multus-cni"),
            **further,
        },
        **own,
    }
    if part.pci_addresses is not None:
        spec["nicConfigurationOperator"] = {
            "operator": component(plan, "nic-configuration-operator"),
            "configurationDaemon": component(plan, "nic-configuration-operator-daemon"),
        }
    return {
        "apiVersion": "mellanox.com/v1alpha1",
        "kind": "NicClusterPolicy",
        "metadata": meta("nic-cluster-policy"),
        "spec": spec,
    }


def _configuration(plan: Plan) -> Iterator[Manifest]:
    """Yield how the NICs are named and set."""
    part = part_of(plan)
    assert part.nic_type is not None, "the caller has asked"
    namespace = part.operator_namespace.text()
    ours = part.interfaces.source != "cluster"
    if ours:
        yield {
            "apiVersion": CONFIGURATION,
            "kind": "NicInterfaceNameTemplate",
            "metadata": meta("rails", namespace),
            "spec": {
                "nodeSelector": node_selector(plan),
                "netDevicePrefix": "eth_r%rail_id%",
                "pfsPerNic": 1,
                "railPciAddresses": [[address] for address in part.pci()],
            },
        }
    yield {
        "apiVersion": CONFIGURATION,
        "kind": "NicConfigurationTemplate",
        "metadata": meta("rails", namespace),
        "spec": {
            "nodeSelector": node_selector(plan),
            "nicSelector": {"nicType": part.nic_type.text(), "pciAddresses": list(part.pci())},
            "template": _template(plan),
        },
    }


def _template(plan: Plan) -> dict[str, Value]:
    part, labels, control = part_of(plan), plan.labels, plan.dcqcn
    functions = part.virtual_functions
    template: dict[str, Value] = {
        "numVfs": 0 if functions is None else functions.whole(),
        "linkType": "Infiniband" if plan.cluster.fabric.kind in INFINIBAND else "Ethernet",
        "pciPerformanceOptimized": {
            "enabled": True,
            "maxReadRequest": MAX_READ_REQUEST_BYTES,
        },
        "gpuDirectOptimized": {"enabled": True, "env": "Baremetal"},
    }
    if labels is None:
        return template
    lossless = labels.priority.whole()
    qos: dict[str, Value] = {
        "trust": "dscp",
        "pfc": ",".join(str(int(number == lossless)) for number in range(PRIORITIES)),
        "tos": labels.traffic_class.whole(),
        "pauseFrames": {"enabled": False},
    }
    if control is not None:
        qos["ecn"] = {"enabled": bool(control.enabled.value), "priority": lossless}
    if plan.pause is not None:
        qos["cableLen"] = math.ceil(plan.pause.room("host").cable_m.number())
    template["roceOptimized"] = {"enabled": True, "roceMode": 2, "qos": qos}
    # The operator's own notification of congestion has DSCP 4, which no switch here knows.
    template["rawNvConfig"] = [
        {"name": "CNP_DSCP_P1", "value": labels.cnp_dscp.text()},
        {"name": "CNP_802P_PRIO_P1", "value": labels.cnp_priority.text()},
    ]
    return template


def _cidr_pools(plan: Plan) -> Iterator[Manifest]:
    """Yield a pool a rail that gives each host the address of its NIC there."""
    part = part_of(plan)
    assert plan.underlay is not None, "an Ethernet plan has an underlay"
    pool = plan.underlay.pool.text()
    by_rail = sorted(rail_links(plan), key=lambda link: (link.rail, link.host))
    for rail, group in groupby(by_rail, key=lambda link: link.rail):
        links = list(group)
        yield {
            "apiVersion": IPAM,
            "kind": "CIDRPool",
            "metadata": meta(part.pools()[rail], part.operator_namespace.text()),
            "spec": {
                "cidr": str(spanned(links)),
                "perNodeNetworkPrefix": 31,
                "gatewayIndex": 0,
                "nodeSelector": _labelled(plan),
                "routes": [{"dst": pool}],
                "staticAllocations": [_allocation(link) for link in links],
            },
        }


def _allocation(link: RailLink) -> dict[str, Value]:
    return {
        "nodeName": link.name,
        "prefix": f"{link.gateway}/31",
        "gateway": link.gateway,
    }


def _ip_pools(plan: Plan) -> Iterator[Manifest]:
    """Yield a flat subnet a rail."""
    part = part_of(plan)
    assert part.block_addresses is not None, "a flat network has blocks"
    for rail in rails(plan):
        yield {
            "apiVersion": IPAM,
            "kind": "IPPool",
            "metadata": meta(part.pools()[rail], part.operator_namespace.text()),
            "spec": {
                "subnet": part.subnets()[rail],
                "perNodeBlockSize": part.block_addresses.whole(),
                "nodeSelector": _labelled(plan),
            },
        }


def _labelled(plan: Plan) -> dict[str, Value]:
    """Select the hosts of the plan: those that label-nodes has labelled."""
    key = part_of(plan).leaf_label.text()
    return {"nodeSelectorTerms": [{"matchExpressions": [{"key": key, "operator": "Exists"}]}]}


def _labels(plan: Plan) -> Iterator[str]:
    """Yield a script that tells Kubernetes which hosts are neighbours."""
    network, part = layout(plan.cluster), part_of(plan)
    units_per_pod = max(1, network.hosts_per_pod // network.hosts_per_unit)
    leaf, spine = part.leaf_label.text(), part.spine_label.text()
    yield "#!/bin/sh"
    yield header(plan, "labels of nodes: which hosts hang on the same leaves")
    yield "# Run it as often as you like: it sets, it never adds."
    yield "set -eu"
    tenants = {
        host: f" {TENANT_LABEL}={tenant}"
        for tenant, hosts in plan.cluster.groups()
        for host in hosts
        if tenant
    }
    for host in range(plan.cluster.hosts):
        unit = host // network.hosts_per_unit
        name = naming.host(host, plan.cluster.hosts)
        yield (
            f"kubectl label node {name} --overwrite "
            f"{leaf}=unit{unit:04d} {spine}=pod{unit // units_per_pod:04d}"
            f"{tenants.get(host, '')}"
        )


def _limits(plan: Plan) -> str:
    return "\n".join(
        [
            header(plan, "/etc/systemd/system/containerd.service.d/weft-memlock.conf"),
            "# RDMA pins the memory that it reads and writes; containers inherit this limit.",
            "[Service]",
            "LimitMEMLOCK=infinity",
        ]
    ) + "\n"  # fmt: skip


def _refuses(plan: Plan) -> str | None:
    return against(plan.cluster) if plan.kubernetes is None else None


kubernetes = Target(
    title="Kubernetes: networks of pods, addresses, labels",
    supports=frozenset(
        {Feature.IP, Feature.PFC, Feature.SUBNET, Feature.PROVIDER, Feature.RACK}
    ),
    refuses=_refuses,
    files=_files,
    proofs={
        "05-tenants.yaml": Proof.SCHEMA,
        "10-nic-cluster-policy.yaml": Proof.SCHEMA,
        "20-nic-configuration.yaml": Proof.SCHEMA,
        "30-address-pools.yaml": Proof.SCHEMA,
        "40-networks.yaml": Proof.SCHEMA,
        "00-values.yaml": Proof.GOLDEN,
        "label-nodes, rails.tsv": Proof.GOLDEN,
        "weft-memlock.conf": Proof.GOLDEN,
    },
)
