"""NVIDIA Kubernetes Launch Kit: the cluster file that ``l8k generate`` reads."""

from ipaddress import IPv4Network
from typing import Final

from weft.generate.attachment import HCA_MOST, kubernetes, node_selector
from weft.generate.kubernetes import against
from weft.generate.manifest import Manifest, text
from weft.generate.plan import Plan
from weft.generate.target import Files, declared, header
from weft.generate.template import manifests_of

DEPLOYMENTS: Final = {
    "host_device": "host_device",
    "sriov_infiniband": "sriov",
    "ipoib_shared": "rdma_shared",
}
"""What its profiles call the modes, where pods have flat subnets."""


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


def _config(plan: Plan) -> Manifest:
    part = kubernetes(plan)
    assert part.operator_version is not None, "modes of l8k have a part in the operator"
    release = part.operator_version.text().removeprefix("v").rpartition(".")[0]
    return next(
        manifests_of(
            "l8k/cluster-config.yaml.j2", plan=plan, part=part, release=release,
            deployment=DEPLOYMENTS[part.mode.text()], hca_most=HCA_MOST, gateway=_gateway,
            node_selector=node_selector(plan),
        )
    )  # fmt: skip


def _gateway(subnet: str) -> str:
    return str(IPv4Network(subnet).network_address + 1)


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


l8k = declared("l8k", files=_files, refuses=_refuses)
