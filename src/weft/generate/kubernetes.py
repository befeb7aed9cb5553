"""Kubernetes: the mode of attachment, the names of its objects, the pods of a job."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from ipaddress import IPv4Network
from typing import TYPE_CHECKING, Final

from weft import catalogue
from weft.errors import Infeasible, SpecError
from weft.generate import names
from weft.generate.host import VIRTUAL, rented_from, server_of
from weft.generate.mode import Case, Mode, by_rank, find
from weft.generate.nccl import host_interfaces
from weft.generate.planned import Planned
from weft.generate.underlay import POOLS
from weft.network.network import resolve
from weft.network.topology import Layout
from weft.spec.cluster import Cluster
from weft.spec.kubernetes import Kubernetes as Wishes

if TYPE_CHECKING:
    from weft.generate.nccl import Variables

OPERATOR: Final = "nvidia-network-operator"
OPERATOR_VERSION: Final = "v26.7.0"
NODE_LABEL: Final = "feature.node.kubernetes.io/pci-15b3.present"
TENANT_LABEL: Final = "tenant"
LEAF_LABEL: Final = "network.topology.nvidia.com/leaf"
SPINE_LABEL: Final = "network.topology.nvidia.com/spine"
DEVICE_IDS: Final = {
    "connectx5": "1017",
    "connectx6": "101b",
    "connectx6_dx": "101d",
    "connectx7": "1021",
    "connectx8": "1023",
    "connectx9": "1025",
    "bluefield3": "a2dc",
}
"""What lspci -n shows after the vendor. [pci_ids]"""
SHARED_MEMORY_GIB_PER_GPU: Final = 2
UNSET: Final = "unset"
NUMBER: Final = "N"
"""Stands in a name for the number of the rail."""
SPARE_ADDRESSES: Final = 2
"""For each pod one address, and one for the pod that follows while the old one ends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kubernetes:
    """What manifests print; the N at the end of a name is the number of a rail."""

    mode: Planned
    modes: Mapping[str, Planned]
    """The other modes: whether they fit, and why."""
    namespace: Planned
    operator_namespace: Planned
    operator_version: Planned | None
    operator_repository: Planned | None
    node_label: Planned | None
    """These three where NVIDIA's network operator has a part."""
    leaf_label: Planned
    spine_label: Planned
    nics: Planned
    """Of a host, a rail each."""
    interfaces: Planned
    """With commas, in the order of the rails, as PCI addresses are."""
    pci_addresses: Planned | None
    nic_type: Planned | None
    """PCI device number of the NICs, where they are NVIDIA's and no virtual machine's."""
    resources: Planned | None
    """What a pod asks for, with their prefix."""
    networks: Planned | None
    address_pools: Planned | None
    rail_subnet: Planned | None
    """Of pods on the first rail of InfiniBand; each further rail has the next one."""
    block_addresses: Planned | None
    """Addresses of one host on such a rail."""
    virtual_functions: Planned | None
    device_class: Planned | None
    claim: Planned | None
    """These two where pods claim devices."""
    pods_per_host: Planned
    pods: Planned
    gpus_per_pod: Planned
    gpu_resource: Planned
    shared_memory_gib: Planned
    image: Planned
    script: Planned
    tools_image: Planned
    ray_image: Planned
    settings: Mapping[str, Planned]
    """Variables of NCCL that differ in a pod; the value unset takes one away."""
    tenant: Planned | None = None
    """Value of the label of its hosts, where these are the manifests of one tenant."""

    def of_tenant(self, name: str, hosts: int) -> "Kubernetes":
        """Return what the manifests of a tenant print: a namespace and networks of its own."""
        own = Planned(value=name, source="cluster", reason="tenants: a namespace of its own")
        pods_per_host = self.pods_per_host.whole()
        networks = self.networks
        if networks is not None:
            networks = replace(networks, value=f"{name}-{networks.text()}")
        pods = replace(self.pods, value=hosts * pods_per_host, reason="the tenant's hosts")
        return replace(self, tenant=own, namespace=own, networks=networks, pods=pods)

    def attached(self) -> Mode:
        """Return the mode itself."""
        return find(self.mode.text())

    def interface_list(self) -> tuple[str, ...]:
        """Return the interfaces one by one."""
        return tuple(self.interfaces.text().split(","))

    def pci(self) -> tuple[str, ...]:
        """Return the PCI addresses one by one; none where they are not known."""
        return tuple(self.pci_addresses.text().split(",")) if self.pci_addresses else ()

    def resource_list(self) -> tuple[str, ...]:
        """Return what a pod asks for one by one."""
        return self._numbered(self.resources)

    def resource_names(self) -> tuple[str, ...]:
        """Return the resources without their prefix, as device plug-ins take them."""
        return tuple(one.partition("/")[2] for one in self.resource_list())

    def resource_prefix(self) -> str:
        """Return the prefix of the resources."""
        return self.resource_list()[0].partition("/")[0]

    def network_list(self) -> tuple[str, ...]:
        """Return the networks one by one."""
        return self._numbered(self.networks)

    def pools(self) -> tuple[str, ...]:
        """Return the pools of addresses one by one."""
        return self._numbered(self.address_pools)

    def subnets(self) -> tuple[str, ...]:
        """Return the subnets of the rails one by one."""
        if self.rail_subnet is None:
            return ()
        first = IPv4Network(self.rail_subnet.text())
        start, length = int(first.network_address), first.prefixlen
        each = (start + rail * first.num_addresses for rail in range(self.nics.whole()))
        return tuple(str(IPv4Network((one, length))) for one in each)

    def _numbered(self, name: Planned | None) -> tuple[str, ...]:
        """Return a name once, or with the number of each rail for its N."""
        if name is None:
            return ()
        text = name.text()
        if not text.endswith(NUMBER):
            return (text,)
        rails = range(self.nics.whole())
        return tuple(f"{text.removesuffix(NUMBER)}{rail}" for rail in rails)

    def environment(self, nccl: "Variables") -> dict[str, Planned]:
        """Return the variables of a pod: those of the plan, with what differs in pods."""
        merged = {**nccl.settings, **self.settings}
        kept = {name: one for name, one in merged.items() if one.value != UNSET}
        return dict(sorted(kept.items()))


def against(cluster: Cluster) -> str:
    """Return why no mode fits a cluster, mode by mode."""
    case = _case(cluster)
    said = [
        f"{name}: {mode.against(case)}"
        for name, mode in by_rank()
        if case.fabric in mode.fabrics
    ]
    return f"no way to attach pods fits; {'; '.join(said) or f'none is for {case.fabric}'}"


def kubernetes(cluster: Cluster, layout: Layout) -> Kubernetes | None:
    """Return what manifests print; none where no mode fits and none was asked for."""
    wishes = cluster.kubernetes or Wishes()
    case = _case(cluster)
    name, reason, source = _chosen(wishes, case)
    if name is None:
        return None
    mode = find(name)
    parts = {
        **_own(reason, name, source, case),
        **_operator(wishes, cluster, mode),
        **_rails(wishes, cluster, layout, mode),
        **_pods(wishes, cluster),
        "settings": _settings(wishes, mode),
    }
    return Kubernetes(**parts)  # type: ignore[arg-type] # each is what its function returns


def _case(cluster: Cluster) -> Case:
    wishes, nic = cluster.kubernetes or Wishes(), resolve(cluster).nic
    return Case(
        fabric=cluster.fabric.kind,
        nic_vendor=nic.vendor if nic else "",
        gpus_per_host=cluster.host.gpus,
        pods_per_host=wishes.pods_per_host,
        virtual=rented_from(cluster) in VIRTUAL,
        rented=rented_from(cluster) is not None,
    )


def _chosen(wishes: Wishes, case: Case) -> tuple[str | None, str, str]:
    """Return the mode, why, and whose wish it is."""
    fitting = [(name, mode) for name, mode in by_rank() if mode.against(case) is None]
    if wishes.mode is not None:
        against = find(wishes.mode).against(case)
        if against is not None:
            able = ", ".join(name for name, _ in fitting) or "none"
            raise SpecError(
                f"kubernetes.mode {wishes.mode}: {against}. Modes for this cluster: {able}"
            )
        why = f"kubernetes.mode asks for it: {find(wishes.mode).why}"
        return wishes.mode, why, "cluster"
    if not fitting:
        return None, "", ""
    name, mode = fitting[0]
    return name, mode.why, "l8k"


def _own(reason: str, name: str, source: str, case: Case) -> dict[str, object]:
    others = {}
    for other, mode in by_rank():
        if other == name:
            continue
        no = mode.against(case)
        others[other] = Planned(
            value="fits" if no is None else "does not fit",
            reason=mode.why if no is None else no,
            source="l8k",
        )
    return {"mode": Planned(value=name, reason=reason, source=source), "modes": others}


def _operator(wishes: Wishes, cluster: Cluster, mode: Mode) -> dict[str, object]:
    number = DEVICE_IDS.get(cluster.host.nic)
    return {
        "namespace": Planned(
            value=names.namespace(wishes.namespace), source="cluster",
            reason="kubernetes.namespace: jobs, and the networks that they ask for"),
        **_parts(mode),
        "leaf_label": Planned(
            value=LEAF_LABEL, source="topograph",
            reason="hosts on the same leaves; label-nodes sets it"),
        "spine_label": Planned(
            value=SPINE_LABEL, source="topograph",
            reason="hosts that meet below the top tier; label-nodes sets it"),
        "nic_type": None if number is None or rented_from(cluster) in VIRTUAL else Planned(
            value=number, source="pci_ids", reason="PCI device number of host.nic"),
        "device_class": Planned(
            value="rdma-nics", source="dranet", reason="RDMA devices that DRANET hands out",
        ) if mode.claim else None,
        "claim": Planned(
            value="rails", source="dranet", reason="one claim a pod, with a request a rail",
        ) if mode.claim else None,
    }  # fmt: skip


def _parts(mode: Mode) -> dict[str, object]:
    """Return what is said of NVIDIA's network operator, and where pools of addresses live."""
    if not mode.operator:
        alone = Planned(value="kube-system", source="l8k", reason="where nv-ipam alone lives")
        nothing = ("operator_version", "operator_repository", "node_label")
        return {"operator_namespace": alone, **dict.fromkeys(nothing)}
    return {
        "operator_namespace": Planned(
            value=OPERATOR, source="l8k", reason="where NVIDIA's network operator lives"),
        "operator_version": Planned(
            value=OPERATOR_VERSION, source="l8k",
            reason="the release that the fields of the manifests were checked against"),
        "operator_repository": Planned(
            value="nvcr.io/nvidia/mellanox", source="l8k",
            reason="images of the operator's components"),
        "node_label": Planned(
            value=NODE_LABEL, source="l8k",
            reason="node feature discovery, which comes with the operator, sets it on hosts "
            "with NVIDIA's NICs"),
    }  # fmt: skip


def _rails(wishes: Wishes, cluster: Cluster, layout: Layout, mode: Mode) -> dict[str, object]:
    count = layout.site.nics_per_host
    addresses = _pci(wishes, cluster, count)
    pooled = bool(mode.network)
    flat = pooled and cluster.fabric.kind == "infiniband"
    return {
        "nics": Planned(
            value=count, source="cluster", reason="host.nics: each has a rail of its own"),
        "interfaces": _interfaces(wishes, count, named=addresses is not None),
        "pci_addresses": addresses,
        "resources": _resources(mode),
        "networks": _listed(mode.network, "one a rail, as k8s-launch-kit names them"),
        "address_pools": _listed(
            "rail-N" if pooled else "", "one a rail: its NICs share no addresses"),
        "rail_subnet": _subnet(wishes, cluster, count) if flat else None,
        "block_addresses": Planned(
            value=SPARE_ADDRESSES * wishes.pods_per_host, source="estimate",
            reason="an address for each pod of a host, and one for the pod that follows it",
        ) if flat else None,
        "virtual_functions": Planned(
            value=wishes.pods_per_host, source="cluster",
            reason="kubernetes.pods_per_host: each pod has one of every NIC",
        ) if mode.functions else None,
    }  # fmt: skip


def _resources(mode: Mode) -> Planned | None:
    if mode.whole_resource:
        return Planned(value=mode.resource, source="aws_efa", reason="as the plug-in names it")
    return _listed(mode.resource, "one a rail: a pod gets the NIC that each rail needs")


def _listed(name: str, reason: str) -> Planned | None:
    return Planned(value=name, source="l8k", reason=reason) if name else None


def _interfaces(wishes: Wishes, count: int, *, named: bool) -> Planned:
    if wishes.interfaces:
        _as_many("kubernetes.interfaces", wishes.interfaces, count)
        listed = ",".join(names.interface(one) for one in wishes.interfaces)
        return Planned(value=listed, source="cluster", reason="kubernetes.interfaces")
    given = "the operator gives these names, by the PCI addresses"
    assumed = (
        "assumed: compare with ls /sys/class/infiniband/*/device/net on a host, and give "
        "kubernetes.interfaces, or kubernetes.pci_addresses to have them named so"
    )
    return Planned(
        value=",".join(f"eth_r{rail}" for rail in range(count)), source="l8k",
        reason=given if named else assumed,
    )  # fmt: skip


def _pci(wishes: Wishes, cluster: Cluster, count: int) -> Planned | None:
    if wishes.pci_addresses:
        _as_many("kubernetes.pci_addresses", wishes.pci_addresses, count)
        listed = ",".join(names.pci_address(one) for one in wishes.pci_addresses)
        return Planned(value=listed, source="cluster", reason="kubernetes.pci_addresses")
    server = server_of(cluster)
    if server is None or len(server.pci_addresses) != count:
        return None
    return Planned(
        value=",".join(server.pci_addresses), source="catalogue",
        reason=f"of the compute NICs of a {server.title}",
    )  # fmt: skip


def _as_many(what: str, given: tuple[str, ...], count: int) -> None:
    if len(given) != count:
        raise SpecError(f"{what} has {len(given)}; give one for each of the {count} NICs")
    if len(set(given)) != count:
        raise SpecError(f"{what} names one twice; each NIC has its own")


def _subnet(wishes: Wishes, cluster: Cluster, count: int) -> Planned:
    wanted = cluster.hosts * SPARE_ADDRESSES * wishes.pods_per_host + 2
    length = 32 - (wanted - 1).bit_length()
    pool = IPv4Network(POOLS[0])
    if length < pool.prefixlen or count > 2 ** (length - pool.prefixlen):
        raise Infeasible(f"{count} rails of a /{length} each do not fit in {pool}")
    return Planned(
        value=f"{pool.network_address}/{length}", source="estimate",
        reason=f"of the first rail, each further one has the next: room for {wanted} "
        "addresses, for tools that speak IP, as NCCL on InfiniBand needs none; change it "
        "where the site has it in use",
    )  # fmt: skip


def _pods(wishes: Wishes, cluster: Cluster) -> dict[str, object]:
    gpus, shared = cluster.host.gpus, wishes.pods_per_host
    if gpus % shared:
        raise SpecError(f"kubernetes.pods_per_host {shared}: must divide host.gpus ({gpus})")
    vendor = catalogue.find("gpus", cluster.host.gpu).vendor
    images = {
        key: Planned(
            value=names.image(getattr(wishes, key), f"kubernetes.{key}"), source="cluster",
            reason=f"kubernetes.{key}",
        )
        for key in ("image", "tools_image", "ray_image")
    }  # fmt: skip
    return {
        **images,
        "script": Planned(
            value=names.script(wishes.script), source="cluster", reason="kubernetes.script"),
        "pods_per_host": Planned(
            value=shared, source="cluster", reason="kubernetes.pods_per_host"),
        "pods": Planned(
            value=cluster.hosts * shared, source="cluster",
            reason="hosts x kubernetes.pods_per_host"),
        "gpus_per_pod": Planned(
            value=gpus // shared, source="cluster",
            reason="host.gpus / kubernetes.pods_per_host"),
        "gpu_resource": Planned(
            value="amd.com/gpu" if vendor == "AMD" else "nvidia.com/gpu", source="catalogue",
            reason=f"the device plug-in of {vendor}"),
        "shared_memory_gib": Planned(
            value=SHARED_MEMORY_GIB_PER_GPU * (gpus // shared), unit="GiB", source="estimate",
            reason="shared memory: NVIDIA asks for 1 GiB at least, and data loaders hand their "
            "batches over in it; 64 MiB, the default, stops NCCL"),
    }  # fmt: skip


def _settings(wishes: Wishes, mode: Mode) -> dict[str, Planned]:
    settings = {}
    if mode.on_host_network:
        settings["NCCL_SOCKET_IFNAME"] = host_interfaces(wishes.interfaces)
    else:
        settings["NCCL_SOCKET_IFNAME"] = Planned(
            value="eth0", source="nccl_env",
            reason="the pod's own interface carries the bootstrap; net1, net2, ... are the "
            "rails, and a bootstrap over one of them hangs where rails do not meet",
        )  # fmt: skip
    if not mode.keeps_device_names:
        settings["NCCL_IB_HCA"] = Planned(
            value=UNSET, source="nccl_env",
            reason="a virtual function's device gets its name when it is made; a pod can open "
            "only those that it was given, so all that it sees are right",
        )  # fmt: skip
    return settings
