"""NVIDIA Kubernetes Launch Kit: the cluster file that ``l8k generate`` reads."""

from ipaddress import IPv4Network
from typing import Final

from weft.generate.attachment import HCA_MOST, kubernetes, node_selector
from weft.generate.kubernetes import against
from weft.generate.manifest import Value, text
from weft.generate.plan import Feature, Plan
from weft.generate.target import Files, Proof, Target, header

DEPLOYMENTS: Final = {
    "host_device": "host_device",
    "sriov_infiniband": "sriov",
    "ipoib_shared": "rdma_shared",
}
"""What its profiles call the modes, where pods have flat subnets."""
SR_IOV_PRIORITY: Final = 90
"""As k8s-launch-kit gives its policies."""
IPOIB_MTU_BYTES: Final = 4000
"""As l8k sets it for functions on InfiniBand."""


def _files(plan: Plan) -> Files:
    head = [
        header(plan, "cluster-config.yaml for l8k").removeprefix("# "),
        f"Then: l8k generate --user-config cluster-config.yaml. {_interfaces(plan)}",
    ]
    # Its documents begin without a mark, as l8k writes them.
    yield "cluster-config.yaml", text([_config(plan)], head).replace("---\n", "", 1)


def _interfaces(plan: Plan) -> str:
    part = kubernetes(plan)
    if part.pci_addresses is not None:
        return "PCI addresses are those of the document."
    return f"Interfaces are {part.interfaces.reason}."


def _config(plan: Plan) -> dict[str, Value]:
    part = kubernetes(plan)
    assert part.operator_version is not None, "modes of l8k have a part in the operator"
    release = ".".join(part.operator_version.text().removeprefix("v").split(".")[:2])
    functions = part.virtual_functions
    return {
        "networkOperator": {
            "selectedRelease": release,
            "namespace": part.operator_namespace.text(),
        },
        "networkNamespaces": [part.namespace.text()],
        "nvIpam": {
            "subnets": [{"subnet": one, "gateway": _gateway(one)} for one in part.subnets()]
        },
        "sriov": {
            "infinibandMtu": IPOIB_MTU_BYTES,
            "numVfs": 1 if functions is None else functions.whole(),
            "priority": SR_IOV_PRIORITY,
            "resourceName": "sriov_resource",
            "networkName": "sriov-network",
        },
        "hostdev": {"resourceName": "hostdev_resource", "networkName": "hostdev-network"},
        "rdmaShared": {"resourceName": "rdma_shared_resource", "hcaMax": HCA_MOST},
        "ipoib": {"networkName": "ipoib-network"},
        "nicConfigurationOperator": {
            "deployNicInterfaceNameTemplate": part.pci_addresses is not None
        },
        "profile": {
            "fabric": "infiniband",
            "deployment": DEPLOYMENTS[part.mode.text()],
            "multirail": True,
        },
        "clusterConfig": [_group(plan)],
    }


def _gateway(subnet: str) -> str:
    return str(IPv4Network(subnet).network_address + 1)


def _group(plan: Plan) -> dict[str, Value]:
    """Return the hosts, which are all alike."""
    functions = kubernetes(plan).virtual_functions is not None
    return {
        "identifier": plan.names.label.text()[:30].strip("-"),
        "linkType": "InfiniBand",
        "capabilities": {"nodes": {"sriov": functions, "rdma": True, "ib": True}},
        "nodeSelector": node_selector(plan),
        "pfs": [_function(plan, rail) for rail in range(len(plan.names.device_list()))],
    }


def _function(plan: Plan, rail: int) -> dict[str, Value]:
    """Return one NIC of a host."""
    part = kubernetes(plan)
    known: dict[str, Value] = {}
    if part.nic_type is not None:
        known["deviceID"] = part.nic_type.text()
    if part.pci_addresses is not None:
        known["pciAddress"] = part.pci()[rail]
    return {
        **known,
        "rdmaDevice": plan.names.device_list()[rail],
        "networkInterface": part.interface_list()[rail],
        "traffic": "east-west",
        "rail": rail,
    }


def _refuses(plan: Plan) -> str | None:
    if plan.kubernetes is None:
        return against(plan.cluster)
    if plan.cluster.tenants:
        return "l8k writes the networks of one tenant; take target kubernetes"
    if plan.underlay is not None:
        return (
            "l8k gives each rail one flat subnet, and the plan routes a /31 to every NIC; "
            "take target kubernetes"
        )
    mode = plan.kubernetes.mode.text()
    return None if mode in DEPLOYMENTS else f"l8k has no profile for mode {mode}"


l8k = Target(
    title="Kubernetes Launch Kit: cluster-config.yaml",
    supports=frozenset({Feature.SUBNET}),
    needs=frozenset({Feature.SUBNET}),
    refuses=_refuses,
    files=_files,
    proofs={"cluster-config.yaml": Proof.GOLDEN},
)
