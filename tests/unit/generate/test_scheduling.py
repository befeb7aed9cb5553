"""A dry run of the scheduler: what each pod asks for, against what rendered nodes advertise.

The device plug-ins are read as they would read their configuration; nodes have the labels that
the rendered script sets. GPUs and EFA come from plug-ins that weft does not render.
"""

import json
import re
from collections import Counter
from dataclasses import dataclass, field

import pytest
from ruamel.yaml import YAML

from weft.errors import WeftError
from weft.generate.mode import by_rank
from weft.generate.plan import plan
from weft.generate.target import reason_against, render
from weft.spec.cluster import Tenant
from weft.spec.kubernetes import Kubernetes
from weft.spec.load import preset, presets

TARGETS = ["kubernetes", "kubernetes_jobs"]
TENANTS = (Tenant(name="red", hosts=2), Tenant(name="blue", hosts=1))
IMAGES = {"image": "a/b:1", "tools_image": "a/c:1", "ray_image": "a/d:1"}
NETWORKS = "k8s.v1.cni.cncf.io/networks"
ASKED = "requests."


@dataclass
class Site:
    """What a cluster has once the files of target kubernetes are applied."""

    most: Counter = field(default_factory=Counter)
    """Devices of one node, by resource."""
    networks: set = field(default_factory=set)
    """Names with their namespaces, as pods can ask for them."""
    quotas: dict = field(default_factory=dict)
    labels: dict = field(default_factory=dict)
    selectors: dict = field(default_factory=dict)
    claims: set = field(default_factory=set)


def _site(cluster, files) -> Site:
    site, gpus = Site(), cluster.host.gpus
    vendor = "amd.com/gpu" if cluster.host.gpu.startswith("mi") else "nvidia.com/gpu"
    site.most[vendor] = gpus
    if cluster.fabric.kind == "efa":
        site.most["vpc.amazonaws.com/efa"] = cluster.host.nics
    made = [
        one for path, text in files.items() if path.endswith(".yaml") for one in _read(text)
    ]
    prefix = next((p for one in made if (p := _prefix(one))), "openshift.io")
    for one in made:
        APPLY.get(one.get("kind"), lambda *_: None)(site, one, prefix)
    for line in files["kubernetes/label-nodes"].splitlines():
        if line.startswith("kubectl label node "):
            words = line.split()
            site.labels[words[3]] = dict(word.split("=") for word in words[4:] if "=" in word)
    return site


def _read(text: str):
    return list(YAML(typ="safe", pure=True).load_all(text))


def _prefix(one: dict) -> str:
    return one.get("sriov-network-operator", {}).get("operator", {}).get("resourcePrefix", "")


def _policy(site: Site, one: dict, _: str) -> None:
    spec = one["spec"]
    if "sriovDevicePlugin" in spec:
        for pool in json.loads(spec["sriovDevicePlugin"]["config"])["resourceList"]:
            site.most[f"{pool['resourcePrefix']}/{pool['resourceName']}"] += 1
    if "rdmaSharedDevicePlugin" in spec:
        _share(site, spec["rdmaSharedDevicePlugin"]["config"])


def _functions(site: Site, one: dict, prefix: str) -> None:
    site.most[f"{prefix}/{one['spec']['resourceName']}"] += one["spec"]["numVfs"]


def _network(site: Site, one: dict, _: str) -> None:
    namespace = one["spec"].get("networkNamespace") or one["metadata"]["namespace"]
    site.networks.add((namespace, one["metadata"]["name"]))


def _quota(site: Site, one: dict, _: str) -> None:
    hard = one["spec"]["hard"].items()
    site.quotas[one["metadata"]["namespace"]] = {
        name.removeprefix(ASKED): int(value) for name, value in hard
    }


def _namespace(site: Site, one: dict, _: str) -> None:
    (selector,) = one["metadata"]["annotations"].values()
    site.selectors[one["metadata"]["name"]] = dict([selector.split("=")])


def _claim(site: Site, one: dict, _: str) -> None:
    site.claims.add((one["metadata"]["namespace"], one["metadata"]["name"]))


APPLY = {
    "NicClusterPolicy": _policy,
    "ConfigMap": lambda site, one, _: _share(site, one["data"]["config.json"]),
    "SriovNetworkNodePolicy": _functions,
    "ResourceQuota": _quota,
    "Namespace": _namespace,
    "ResourceClaimTemplate": _claim,
} | dict.fromkeys(
    ("HostDeviceNetwork", "MacvlanNetwork", "IPoIBNetwork", "SriovNetwork", "SriovIBNetwork",
     "NetworkAttachmentDefinition"),
    _network,
)  # fmt: skip


def _share(site: Site, config: str) -> None:
    for pool in json.loads(config)["configList"]:
        site.most[f"rdma/{pool['resourceName']}"] += pool["rdmaHcaMax"]


def _templates(value: object):
    if isinstance(value, dict):
        if "containers" in value.get("spec", {}):
            yield value
        for one in value.values():
            yield from _templates(one)
    elif isinstance(value, list):
        for one in value:
            yield from _templates(one)


def _refusals(site: Site, namespace: str, template: dict, pods_per_host: int):
    """Yield why a pod of a template would stay pending."""
    spec, metadata = template["spec"], template.get("metadata", {})
    asked = Counter()
    for container in spec["containers"]:
        asked.update(container.get("resources", {}).get("limits", {}))
    for name, count in asked.items():
        if site.most[name] < count * pods_per_host:
            yield f"{pods_per_host} x {count} {name}: a node has {site.most[name]}"
        if namespace in site.quotas and site.quotas[namespace].get(name, 0) < count:
            yield f"{name} is beyond the quota of {namespace}"
    for wanted in filter(None, metadata.get("annotations", {}).get(NETWORKS, "").split(",")):
        if (namespace, wanted) not in site.networks:
            yield f"no network {wanted} in {namespace}"
    for claim in spec.get("resourceClaims", ()):
        if (namespace, claim["resourceClaimTemplateName"]) not in site.claims:
            yield f"no claim {claim['resourceClaimTemplateName']} in {namespace}"
    selector = {**spec.get("nodeSelector", {}), **site.selectors.get(namespace, {})}
    if not any(selector.items() <= labels.items() for labels in site.labels.values()):
        yield f"no node has {selector}"


def _pending(cluster, spoil=lambda text: text) -> list[str]:
    made = render(plan(cluster), TARGETS)
    files = {file.path: file.text for file in made.files}
    ours = {path: spoil(text) for path, text in files.items() if path.startswith("kubernetes/")}
    site, found = _site(cluster, ours), []
    shared = cluster.kubernetes.pods_per_host if cluster.kubernetes else 1
    seen = 0
    for path, text in files.items():
        if path.startswith("kubernetes_jobs/") and path.endswith(".yaml"):
            for one in _read(text):
                namespace = one["metadata"]["namespace"]
                for template in _templates(one):
                    seen += 1
                    found += (
                        f"{path}: {why}" for why in _refusals(site, namespace, template, shared)
                    )
    assert seen
    return found


def _cases():
    for name in presets():
        cluster = preset(name, hosts=4)
        wishes = IMAGES if cluster.host.gpu.startswith("mi") else {}
        for mode, _ in by_rank():
            yield f"{name} {mode}", cluster.with_(kubernetes=Kubernetes(mode=mode, **wishes))
    infiniband = preset("dgx_h100", hosts=4)
    for shared in (1, 4):
        asked = infiniband.with_(kubernetes=Kubernetes(pods_per_host=shared))
        yield f"{shared} pods a host", asked
        yield f"tenants, {shared} pods a host", asked.with_(tenants=TENANTS)


def _fits(cluster) -> bool:
    try:
        made = plan(cluster)
    except WeftError:  # the mode is not for this cluster, as other tests say
        return False
    return not any(reason_against(target, made) for target in TARGETS)


CASES = {name: cluster for name, cluster in _cases() if _fits(cluster)}


@pytest.mark.parametrize("case", CASES)
def test_every_pod_finds_a_node_with_what_it_asks_for(case):
    assert not _pending(CASES[case])


FAULTS = {
    "a resource of another name": (r"hostdev_resource_rail_3", "hostdev_resource_rail_8"),
    "another prefix": (r'"resourcePrefix": "nvidia.com"', '"resourcePrefix": "mellanox.com"'),
    "a network of another namespace": (r"networkNamespace: red", "networkNamespace: default"),
    "hosts of no tenant": (r" tenant=blue", ""),
    "no quota for a rail": (r"requests.nvidia.com/hostdev_resource_rail_2", "requests.other"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_leaves_pods_pending(fault):
    cluster = CASES["tenants, 1 pods a host"]
    assert _pending(cluster, lambda text: re.sub(*FAULTS[fault], text))


def test_tenants_share_no_namespace_no_network_and_no_host():
    texts = {
        file.path: file.text
        for file in render(plan(CASES["tenants, 1 pods a host"]), [*TARGETS, "launch"]).files
    }
    labelled = Counter(re.findall(r"tenant=(\w+)", texts["kubernetes/label-nodes"]))
    assert labelled == {"red": 2, "blue": 1}
    for tenant, hosts in labelled.items():
        other = "red" if tenant == "blue" else "blue"
        own = [text for path, text in texts.items() if f"/{tenant}/" in path]
        assert not any(f"namespace: {other}" in text or f"{other}-host" in text for text in own)
        assert len(texts[f"launch/{tenant}/hostfile"].splitlines()) == hosts
        assert f"-np {8 * hosts} " in texts[f"launch/{tenant}/mpirun.sh"]
