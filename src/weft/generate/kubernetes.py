"""Kubernetes: the mode of attachment, the names of its objects, the pods of a job."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from ipaddress import IPv4Network
from typing import TYPE_CHECKING, Any, Final

from weft import catalogue
from weft.design.bom import server_of
from weft.errors import Infeasible, SpecError
from weft.generate import names
from weft.generate.host import VIRTUAL, rented_from
from weft.generate.mode import Case, Mode, by_rank, find
from weft.generate.nccl import host_interfaces
from weft.generate.planned import Planned, Scalar, constants, numbered
from weft.generate.underlay import POOLS
from weft.network.network import resolve
from weft.network.topology import Layout
from weft.spec.cluster import Cluster
from weft.spec.kubernetes import Kubernetes as Wishes

if TYPE_CHECKING:
    from weft.generate.nccl import Variables

TENANT_LABEL: Final = "tenant"
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
    operator_version: Planned | None = None
    operator_repository: Planned | None = None
    node_label: Planned | None = None
    """These three where NVIDIA's network operator has a part."""
    leaf_label: Planned
    spine_label: Planned
    nics: Planned
    """Of a host, a rail each."""
    interfaces: Planned
    """With commas, in the order of the rails, as PCI addresses are."""
    pci_addresses: Planned | None = None
    nic_type: Planned | None = None
    """PCI device number of the NICs, where they are NVIDIA's and no virtual machine's."""
    resources: Planned | None = None
    """What a pod asks for, with their prefix."""
    networks: Planned | None = None
    address_pools: Planned | None = None
    rail_subnet: Planned | None = None
    """Of pods on the first rail of InfiniBand; each further rail has the next one."""
    block_addresses: Planned | None = None
    """Addresses of one host on such a rail."""
    virtual_functions: Planned | None = None
    device_class: Planned | None = None
    claim: Planned | None = None
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
        own = numbered("kubernetes.tenant", name)
        networks = self.networks
        if networks is not None:
            networks = replace(networks, value=f"{name}-{networks.text()}")
        pods = numbered("kubernetes.pods_of_tenant", hosts * self.pods_per_host.whole())
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
        return tuple(text.partition("/")[2] for text in self.resource_list())

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
        return tuple(str(IPv4Network((number, length))) for number in each)

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
        kept = {name: planned for name, planned in merged.items() if planned.value != UNSET}
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
    name, row = _chosen(wishes, case)
    if name is None:
        return None
    mode = find(name)
    numbers: dict[str, Any] = {
        "mode": numbered(f"modes.{row}", name, why=mode.why),
        "modes": _others(name, case),
    }
    apart = {
        "kubernetes": True,
        "claims": mode.claim,
        "operator" if mode.operator else "no_operator": True,
    }
    parts = {
        **numbers,
        **constants(*(part for part, applies in apart.items() if applies)),
        **_operator(wishes, cluster),
        **_rails(wishes, cluster, layout, mode),
        **_pods(wishes, cluster),
        "settings": _settings(wishes, mode),
    }
    return Kubernetes(**parts)


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


def _chosen(wishes: Wishes, case: Case) -> tuple[str | None, str]:
    """Return the mode, and the row of numbers that says whose wish it is."""
    fitting = [name for name, mode in by_rank() if mode.against(case) is None]
    if wishes.mode is None:
        return (fitting[0] if fitting else None), "chosen"
    against = find(wishes.mode).against(case)
    if against is not None:
        able = ", ".join(fitting) or "none"
        raise SpecError(
            f"kubernetes.mode {wishes.mode}: {against}. Modes for this cluster: {able}"
        )
    return wishes.mode, "asked"


def _others(name: str, case: Case) -> dict[str, Planned]:
    """Return the other modes: whether they fit, and why."""
    judged = ((other, mode, mode.against(case)) for other, mode in by_rank() if other != name)
    return {
        other: numbered("modes.no_fit", why=no) if no else numbered("modes.fits", why=mode.why)
        for other, mode, no in judged
    }


def _operator(wishes: Wishes, cluster: Cluster) -> dict[str, object]:
    number = DEVICE_IDS.get(cluster.host.nic)
    named = number is not None and rented_from(cluster) not in VIRTUAL
    return {
        "namespace": numbered(
            "kubernetes.namespace",
            names.checked("namespace", wishes.namespace, "kubernetes.namespace"),
        ),
        "nic_type": numbered("kubernetes.nic_type", number) if named else None,
    }


def _rails(wishes: Wishes, cluster: Cluster, layout: Layout, mode: Mode) -> dict[str, object]:
    count = layout.site.nics_per_host
    addresses = _pci(wishes, cluster, count)
    flat = bool(mode.network) and cluster.fabric.kind == "infiniband"
    resources = "kubernetes.whole_resource" if mode.whole_resource else "kubernetes.resources"
    pods, blocks = wishes.pods_per_host, SPARE_ADDRESSES * wishes.pods_per_host

    def where(applies: object, name: str, value: Scalar) -> Planned | None:
        return numbered(f"kubernetes.{name}", value) if applies else None

    return {
        "nics": numbered("kubernetes.nics", count),
        "interfaces": _interfaces(wishes, count, named=addresses is not None),
        "pci_addresses": addresses,
        "resources": numbered(resources, mode.resource) if mode.resource else None,
        "networks": where(mode.network, "networks", mode.network),
        "address_pools": where(mode.network, "address_pools", "rail-N"),
        "rail_subnet": _subnet(wishes, cluster, count) if flat else None,
        "block_addresses": where(flat, "block_addresses", blocks),
        "virtual_functions": where(mode.functions, "virtual_functions", pods),
    }


def _interfaces(wishes: Wishes, count: int, *, named: bool) -> Planned:
    if wishes.interfaces:
        return _given("interface", "interfaces", wishes.interfaces, count)
    row = "interfaces_by_operator" if named else "interfaces_assumed"
    return numbered(f"kubernetes.{row}", ",".join(f"eth_r{rail}" for rail in range(count)))


def _pci(wishes: Wishes, cluster: Cluster, count: int) -> Planned | None:
    if wishes.pci_addresses:
        return _given("pci_address", "pci_addresses", wishes.pci_addresses, count)
    server = server_of(cluster)
    if server is None or len(server.pci_addresses) != count:
        return None
    listed = ",".join(server.pci_addresses)
    return numbered("kubernetes.pci_addresses_of_server", listed, server=server.title)


def _given(kind: str, name: str, given: tuple[str, ...], count: int) -> Planned:
    """Return what the document names, one a NIC."""
    what = f"kubernetes.{name}"
    if len(given) != count:
        raise SpecError(f"{what} has {len(given)}; give one for each of the {count} NICs")
    if len(set(given)) != count:
        raise SpecError(f"{what} names one twice; each NIC has its own")
    return numbered(what, ",".join(names.checked(kind, text, what) for text in given))


def _subnet(wishes: Wishes, cluster: Cluster, count: int) -> Planned:
    wanted = cluster.hosts * SPARE_ADDRESSES * wishes.pods_per_host + 2
    length = 32 - (wanted - 1).bit_length()
    pool = IPv4Network(POOLS[0])
    if length < pool.prefixlen or count > 2 ** (length - pool.prefixlen):
        raise Infeasible(f"{count} rails of a /{length} each do not fit in {pool}")
    return numbered("kubernetes.rail_subnet", f"{pool.network_address}/{length}", wanted=wanted)


def _pods(wishes: Wishes, cluster: Cluster) -> dict[str, object]:
    gpus, shared = cluster.host.gpus, wishes.pods_per_host
    if gpus % shared:
        raise SpecError(f"kubernetes.pods_per_host {shared}: must divide host.gpus ({gpus})")
    vendor = catalogue.find("gpus", cluster.host.gpu).vendor
    values: dict[str, Scalar] = {
        key: names.checked("image", getattr(wishes, key), f"kubernetes.{key}")
        for key in ("image", "tools_image", "ray_image")
    }
    values |= {
        "script": names.checked("script", wishes.script, "kubernetes.script"),
        "pods_per_host": shared,
        "pods": cluster.hosts * shared,
        "gpus_per_pod": gpus // shared,
        "gpu_resource": "amd.com/gpu" if vendor == "AMD" else "nvidia.com/gpu",
        "shared_memory_gib": SHARED_MEMORY_GIB_PER_GPU * (gpus // shared),
    }
    return {
        name: numbered(f"kubernetes.{name}", value, vendor=vendor)
        for name, value in values.items()
    }


def _settings(wishes: Wishes, mode: Mode) -> dict[str, Planned]:
    settings = constants("nccl_of_pods")
    if mode.on_host_network:
        settings = {"NCCL_SOCKET_IFNAME": host_interfaces(wishes.interfaces)}
    return settings if mode.keeps_device_names else settings | constants("nccl_of_functions")
