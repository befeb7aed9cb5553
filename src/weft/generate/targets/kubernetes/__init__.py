"""Kubernetes: NVIDIA's network operator (or Multus, or DRANET), addresses, labels, limits."""

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import groupby, zip_longest
from typing import Any, Final

from weft.generate.attachment import by_tenant, component, node_selector, of_mode
from weft.generate.attachment import kubernetes as part_of
from weft.generate.kubernetes import TENANT_LABEL, against
from weft.generate.manifest import Manifest, text
from weft.generate.plan import Plan
from weft.generate.rails import RAILS_HEAD, rail_links, spanned
from weft.generate.target import Files, declared, header
from weft.generate.template import manifests_of, text_of
from weft.network import naming
from weft.network.network import layout

ADMISSION: Final = (
    "The API server needs the admission plug-in PodNodeSelector: it keeps the pods of a "
    "namespace on the hosts of its tenant, whose NICs {} alone."
)
CNI_PLUGINS: Final = "secondaryNetwork"
"""Where the policy has its CNI plug-ins, to which a mode adds its own."""


def _files(plan: Plan) -> Files:
    part, mode = part_of(plan), part_of(plan).attached()

    def made(name: str, **values: object) -> Iterator[dict[str, Any]]:
        return manifests_of(
            f"kubernetes/{name}.j2", plan=plan, part=part, component=partial(component, plan),
            node_selector=partial(node_selector, plan), **values,
        )  # fmt: skip

    def file(name: str, what: str, *head: str, **values: object) -> str:
        return text(made(name, **values), [*_head(plan, what), *head])

    what = "labels of nodes: which hosts hang on the same leaves"
    yield (
        "label-nodes",
        text_of(
            "kubernetes/label-nodes.j2", part=part, head=header(plan, what), nodes=_nodes(plan)
        ),
    )
    what = "/etc/systemd/system/containerd.service.d/weft-memlock.conf"
    yield "weft-memlock.conf", text_of("kubernetes/memlock.conf.j2", head=header(plan, what))
    if mode.operator:
        name = "00-values.yaml"
        yield name, file(name, "Helm values")
        own = next(of_mode(plan, f"{part.mode.text()}.policy"), {})
        name = "10-nic-cluster-policy.yaml"
        yield name, file(
            name, "the operator's parts", f"{mode.title}: {part.mode.reason}",
            own={key: value for key, value in own.items() if key != CNI_PLUGINS},
            cni_plugins=own.get(CNI_PLUGINS, {}),
        )  # fmt: skip
        if part.pci_addresses is not None and part.nic_type is not None:
            name = "20-nic-configuration.yaml"
            yield name, file(name, "names and settings of NICs", "Hosts restart for them.")
    if part.address_pools is not None:
        name = "30-address-pools.yaml"
        rails = list(_rails(plan))
        pools = _allocated(made(name, rails=rails), [links for _, _, links in rails])
        yield name, text(pools, _head(plan, "addresses of pods"))
        if plan.underlay is not None:
            # The pods hold the addresses: the unit of the host is to give it none.
            yield "rails.tsv", RAILS_HEAD + "\n"
    if plan.cluster.tenants:
        name, own_nics = (
            "05-tenants.yaml",
            "are in its VRF" if plan.underlay else "have its P_Key",
        )
        yield name, file(
            name, "namespaces of the tenants", ADMISSION.format(own_nics),
            tenants=[(tenant, part_of(own)) for tenant, own in by_tenant(plan)],
            tenant_label=TENANT_LABEL,
        )  # fmt: skip
    networks = _networks(plan)
    if networks:
        head = [*_head(plan, mode.title), f"{part.interfaces.reason}: {part.interfaces.text()}"]
        yield "40-networks.yaml", text(networks, head)


def _networks(plan: Plan) -> list[Manifest]:
    """Return the networks of every tenant; what several have is there once."""
    found: list[Manifest] = []
    for _, own in by_tenant(plan):
        found += (one for one in of_mode(own, part_of(own).mode.text()) if one not in found)
    return found


def _allocated(
    pools: Iterable[dict[str, Any]], links: Iterable[list[dict[str, str]]]
) -> Iterator[Manifest]:
    """Yield the pools with the addresses of their hosts: too many for a template of YAML."""
    for pool, own in zip_longest(pools, links):
        yield {**pool, "spec": {**pool["spec"], **({"staticAllocations": own} if own else {})}}


def _head(plan: Plan, what: str) -> list[str]:
    return [header(plan, what).removeprefix("# ")]


def _rails(plan: Plan) -> Iterator[tuple[int, str, list[dict[str, str]]]]:
    """Yield each rail of Ethernet, what its addresses span, and those of each host."""
    if plan.underlay is None:
        return
    by_rail = sorted(rail_links(plan), key=lambda link: (link.rail, link.host))
    for rail, group in groupby(by_rail, key=lambda link: link.rail):
        links = list(group)
        yield rail, str(spanned(links)), [
            {"nodeName": one.name, "prefix": f"{one.gateway}/31", "gateway": str(one.gateway)}
            for one in links
        ]  # fmt: skip


def _nodes(plan: Plan) -> Iterator[tuple[str, int, int, str]]:
    """Yield each node: name, unit (hosts on the same leaves), pod, label of its tenant."""
    network, cluster = layout(plan.cluster), plan.cluster
    units_per_pod = max(1, network.hosts_per_pod // network.hosts_per_unit)
    tenants = {host: tenant for tenant, hosts in cluster.groups() for host in hosts if tenant}
    for host in range(cluster.hosts):
        unit = host // network.hosts_per_unit
        label = f" {TENANT_LABEL}={tenants[host]}" if host in tenants else ""
        yield naming.host(host, cluster.hosts), unit, unit // units_per_pod, label


def _refuses(plan: Plan) -> str | None:
    return against(plan.cluster) if plan.kubernetes is None else None


kubernetes = declared("kubernetes", files=_files, refuses=_refuses)
