"""Kubernetes: NVIDIA's network operator (or Multus, or DRANET), addresses, labels, limits."""

from collections.abc import Iterable, Iterator, Mapping
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
POOLS: Final = "30-address-pools.yaml"
CNI_PLUGINS: Final = "secondaryNetwork"
"""Where the policy has its CNI plug-ins, to which a mode adds its own."""


def _files(plan: Plan) -> Files:
    part, mode = part_of(plan), part_of(plan).attached()
    own = next(of_mode(plan, f"{part.mode.text()}.policy"), {})
    rails = list(_rails(plan))
    values = {
        "plan": plan, "part": part, "component": partial(component, plan), "rails": rails,
        "node_selector": partial(node_selector, plan), "tenant_label": TENANT_LABEL,
        "tenants": [(tenant, part_of(theirs)) for tenant, theirs in by_tenant(plan)],
        "own": {key: value for key, value in own.items() if key != CNI_PLUGINS},
        "cni_plugins": own.get(CNI_PLUGINS, {}), "nodes": _nodes(plan),
    }  # fmt: skip
    for name, what in (
        ("label-nodes", "labels of nodes: which hosts hang on the same leaves"),
        ("weft-memlock.conf", "/etc/systemd/system/containerd.service.d/weft-memlock.conf"),
    ):
        yield name, text_of(f"kubernetes/{name}.j2", head=header(plan, what), **values)
    for applies, name, what, why in _manifests(plan):
        if applies:
            found: Iterator[Mapping[str, Any]] = manifests_of(f"kubernetes/{name}.j2", **values)
            if name == POOLS:
                found = _allocated(found, [links for *_, links in rails])
            yield name, text(found, [*_head(plan, what), *why])
            if name == POOLS and plan.underlay is not None:
                # The pods hold the addresses: the unit of the host is to give it none.
                yield "rails.tsv", RAILS_HEAD + "\n"
    if networks := _networks(plan):
        head = [*_head(plan, mode.title), f"{part.interfaces.reason}: {part.interfaces.text()}"]
        yield "40-networks.yaml", text(networks, head)


def _manifests(plan: Plan) -> Iterator[tuple[object, str, str, tuple[str, ...]]]:
    """Yield each file of manifests: whether it applies, its name, what it is, and why."""
    part, mode = part_of(plan), part_of(plan).attached()
    policy = f"{mode.title}: {part.mode.reason}"
    nics = mode.operator and part.pci_addresses and part.nic_type
    own_nics = ADMISSION.format("are in its VRF" if plan.underlay else "have its P_Key")
    yield mode.operator, "00-values.yaml", "Helm values", ()
    yield mode.operator, "10-nic-cluster-policy.yaml", "the operator's parts", (policy,)
    what = "names and settings of NICs"
    yield nics, "20-nic-configuration.yaml", what, ("Hosts restart for them.",)
    yield part.address_pools, POOLS, "addresses of pods", ()
    yield plan.cluster.tenants, "05-tenants.yaml", "namespaces of the tenants", (own_nics,)


def _networks(plan: Plan) -> list[Manifest]:
    """Return the networks of every tenant; what several have is there once."""
    found: list[Manifest] = []
    for _, own in by_tenant(plan):
        found += (row for row in of_mode(own, part_of(own).mode.text()) if row not in found)
    return found


def _allocated(
    pools: Iterable[Mapping[str, Any]], links: Iterable[list[dict[str, str]]]
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
        yield (
            rail,
            str(spanned(links)),
            [
                {
                    "nodeName": link.name,
                    "prefix": f"{link.gateway}/31",
                    "gateway": str(link.gateway),
                }
                for link in links
            ],
        )


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
