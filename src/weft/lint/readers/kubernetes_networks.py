"""What gives pods RDMA devices and networks: operators' policies, networks, pools, claims."""

from collections.abc import Callable, Iterator
from typing import Any, Final

import re2

from weft.lint import facts
from weft.lint.document import Tree, whole
from weft.lint.manifests import embedded, name_of, objects
from weft.lint.reader import File, Reader
from weft.readers.untrusted import json_value

Found = Iterator[facts.Fact]
_NETWORKS: Final = frozenset(
    {
        "SriovNetwork",
        "SriovIBNetwork",
        "HostDeviceNetwork",
        "MacvlanNetwork",
        "IPoIBNetwork",
        "OVSNetwork",
    }
)
_MTU: Final = re2.compile(r'"mtu"\s*:\s*"?(\d{2,6})')
_RESOURCE: Final = "k8s.v1.cni.cncf.io/resourceName"


def _claims(file: File) -> bool:
    return any(
        tree["kind"].string() in _KINDS or tree["kind"].string() in _NETWORKS
        for tree in objects(file)
    )


def _read(file: File) -> Found:
    for tree in objects(file):
        kind = tree["kind"].string()
        if kind in _NETWORKS:
            yield from _network(tree)
        elif kind in _KINDS:
            yield from _KINDS[kind](tree)


def _policy(tree: Tree) -> Found:
    """Read a NicClusterPolicy: the configuration of the device plug-ins is JSON in a string."""
    for plugin, prefix in (
        ("rdmaSharedDevicePlugin", "rdma"),
        ("sriovDevicePlugin", "nvidia.com"),
    ):
        config = tree.under("spec", plugin, "config")
        if config:
            yield from _plugin(config, name_of(tree), prefix)
    second = tree.under("spec", "secondaryNetwork")
    for name, item in (*tree["spec"].items(), *second.items()):
        if item["image"]:
            version = item["version"]
            yield facts.Installed(
                at=(version or item).at,
                device=name_of(tree),
                part=name,
                version=version.string(),
            )


def _plugin(config: Tree, by: str, prefix: str) -> Found:
    flaws: list[facts.Flaw] = []
    value = embedded(config, flaws)
    yield from flaws
    if not isinstance(value, dict):
        return
    for key in ("configList", "resourceList"):
        for entry in value.get(key) or []:
            if isinstance(entry, dict) and entry.get("resourceName"):
                yield _entry(entry, config, by, prefix)


def _entry(entry: dict[str, Any], config: Tree, by: str, prefix: str) -> facts.Offered:
    selectors = entry.get("selectors") or {}
    first = selectors[0] if isinstance(selectors, list) and selectors else selectors
    if not isinstance(first, dict):
        first = {}
    names = [
        *(first.get("ifNames") or []),
        *(first.get("pfNames") or []),
        *(entry.get("devices") or []),
    ]
    return facts.Offered(
        at=config.at,
        device=by,
        by=by,
        resource=f"{entry.get('resourcePrefix') or prefix}/{entry['resourceName']}",
        count=whole(str(entry.get("rdmaHcaMax", ""))),
        rdma=str(first["isRdma"]).lower() == "true" if "isRdma" in first else None,
        link_type=",".join(map(str, first.get("linkTypes") or [])),
        vendor=",".join(map(str, first.get("vendors") or [])),
        named=bool(names),
        devices=tuple(map(str, names)),
        selected=bool(first) or bool(names),
    )


def _config_map(tree: Tree) -> Found:
    for part in tree["data"].parts():
        text = part.string()
        if '"resourceList"' in text:
            yield from _plugin(part, name_of(tree), "nvidia.com")
        elif '"configList"' in text:
            yield from _plugin(part, name_of(tree), "rdma")


def _sriov(tree: Tree) -> Found:
    spec = tree["spec"]
    rdma, selector = spec["isRdma"], spec["nicSelector"]
    names = [tree.string() for tree in selector["pfNames"].each()]
    names += [tree.string() for tree in selector["rootDevices"].each()]
    yield facts.Offered(
        at=spec.at,
        device=name_of(tree),
        by=name_of(tree),
        resource=f"*/{spec['resourceName'].string()}",
        count=spec["numVfs"].number(),
        rdma=rdma.true() if rdma else False,
        mtu_bytes=spec["mtu"].number(),
        link_type=spec["linkType"].string(),
        vendor=selector["vendor"].string(),
        driver=spec["deviceType"].string(),
        named=bool(names),
        devices=tuple(names),
        selected=bool(selector.value) and bool(spec["nodeSelector"].value),
    )


def _network(tree: Tree) -> Found:
    spec = tree["spec"]
    flaws: list[facts.Flaw] = []
    ipam = embedded(spec["ipam"], flaws) if isinstance(spec["ipam"].value, str) else None
    chain = _chain(spec["metaPlugins"], flaws)
    yield from flaws
    meta = _meta_mtu(spec["metaPlugins"].string())
    space = spec["networkNamespace"] or tree.under("metadata", "namespace")
    resource = spec["resourceName"].string()
    yield facts.Network(
        at=tree.at,
        device=name_of(tree),
        name=tree.under("metadata", "name").string(),
        namespace=space.string(),
        kind=tree["kind"].string(),
        resource=f"*/{resource}" if resource else "",
        mtu_bytes=spec["mtu"].number() or meta,
        pool=_pool(ipam) or spec.under("ipam", "poolName").string(),
        pool_kind=_pool_kind(ipam),
        master=spec["master"].string(),
        plugins=tuple(str(row.get("type", "")) for row in chain),
        settings=_sysctls(chain),
    )


def _chain(part: Tree, flaws: list[facts.Flaw]) -> list[dict[str, Any]]:
    """Return the plug-ins of a network: objects of JSON with commas between."""
    text = part.string().strip()
    if not text:
        return []
    try:
        found = json_value(f"[{text}]")
    except ValueError as failure:
        message = f"metaPlugins is no list of JSON objects: {failure}"
        fix = "write objects with a comma between"
        flaws.append(facts.Flaw(at=part.at, rule="embedded_json", message=message, fix=fix))
        return []
    flat = found[0] if len(found) == 1 and isinstance(found[0], list) else found
    return [item for item in flat if isinstance(item, dict)]


def _sysctls(plugins: list[dict[str, Any]]) -> tuple[tuple[str, str], ...]:
    found = {
        str(name): str(value)
        for plugin in plugins
        if isinstance(plugin.get("sysctl"), dict)
        for name, value in plugin["sysctl"].items()
    }
    return tuple(sorted(found.items()))


def _meta_mtu(text: str) -> int | None:
    """Return the MTU that the tuning plug-in of a network sets."""
    match = _MTU.search(text)
    return int(match[1]) if match else None


def _pool(ipam: object) -> str:
    return str(ipam.get("poolName", "")) if isinstance(ipam, dict) else ""


def _pool_kind(ipam: object) -> str:
    """Return the kind of pool that nv-ipam looks for: an IPPool where it is not told."""
    if not isinstance(ipam, dict) or not _pool(ipam):
        return ""
    return str(ipam.get("poolType") or ("ippool" if ipam.get("type") == "nv-ipam" else ""))


def _attachment(tree: Tree) -> Found:
    flaws: list[facts.Flaw] = []
    config = embedded(tree.under("spec", "config"), flaws)
    yield from flaws
    parts = config.get("plugins") if isinstance(config, dict) else None
    plugins = [part for part in (parts or [config]) if isinstance(part, dict)]
    mtu = next((whole(str(plugin["mtu"])) for plugin in plugins if "mtu" in plugin), None)
    pools = [_pool(plugin.get("ipam")) for plugin in plugins]
    yield facts.Network(
        at=tree.at,
        device=name_of(tree),
        name=tree.under("metadata", "name").string(),
        namespace=tree.under("metadata", "namespace").string(),
        kind=str(plugins[0].get("type", "")) if plugins else "",
        resource=tree["metadata"]["annotations"][_RESOURCE].string(),
        mtu_bytes=mtu,
        pool=next((pool for pool in pools if pool), ""),
        settings=_sysctls(plugins),
    )


def _addresses(tree: Tree) -> Found:
    spec = tree["spec"]
    subnet = spec["subnet"] or spec["cidr"] or spec["range"]
    yield facts.AddressPool(
        at=subnet.at,
        device=name_of(tree),
        name=tree.under("metadata", "name").string(),
        subnet=subnet.string(),
        gateway=spec["gateway"].string(),
        block=spec["perNodeBlockSize"].number(),
        kind=tree["kind"].string(),
        namespace=tree.under("metadata", "namespace").string(),
        node_prefix=spec["perNodeNetworkPrefix"].number(),
        gateway_index=spec["gatewayIndex"].number(),
        routes=tuple(tree["dst"].string() for tree in spec["routes"].each()),
        fixed=tuple(tree["prefix"].string() for tree in spec["staticAllocations"].each()),
    )
    yield from _fixed(tree)


def _fixed(tree: Tree) -> Found:
    """Yield the prefixes that a pool gives nodes by name, with their gateways."""
    for item in tree.under("spec", "staticAllocations").each():
        yield facts.Address(
            at=item.at,
            device=item["nodeName"].string(),
            side=facts.Side.KUBERNETES,
            port=tree.under("metadata", "name").string(),
            address=item["prefix"].string(),
            gateway=item["gateway"].string(),
        )


def _claim(tree: Tree) -> Found:
    name = tree.under("metadata", "name").string()
    yield facts.Offered(
        at=tree.at, device=name_of(tree), by=name_of(tree), resource=f"claim/{name}"
    )


def _gpu_operator(tree: Tree) -> Found:
    rdma = tree.under("spec", "driver", "rdma", "enabled")
    if rdma:
        yield facts.option(
            rdma.at, "gpu-operator", "driver.rdma.enabled", rdma.string(), device=name_of(tree)
        )


def _nic_configuration(tree: Tree) -> Found:
    """Read a NicConfigurationTemplate, which sets the NIC's quality of service."""
    template = tree.under("spec", "template")
    quality = template.under("roceOptimized", "qos")
    if quality["trust"]:
        yield facts.Trust(
            at=quality["trust"].at,
            device=name_of(tree),
            side=facts.Side.HOST,
            mode=quality["trust"].string(),
        )
    flags = quality["pfc"].string()
    if flags:
        on = tuple(n for n, flag in enumerate(flags.split(",")) if flag.strip() == "1")
        yield facts.Pause(
            at=quality["pfc"].at, device=name_of(tree), side=facts.Side.HOST, priorities=on
        )
    for item in template["rawNvConfig"].each():
        value = item["value"].number()
        if item["name"].string() == "CNP_DSCP_P1" and value is not None:
            yield facts.Congestion(at=item.at, name="cnp_dscp", value=value)


def _kubelet(tree: Tree) -> Found:
    """Yield how the kubelet places CPUs beside devices; none is its default."""
    policy = tree["topologyManagerPolicy"]
    yield facts.option(
        (policy or tree["kind"]).at,
        "kubelet",
        "topologyManagerPolicy",
        policy.string() or "none",
    )


_KINDS: Final[dict[str, Callable[[Tree], Found]]] = {
    "NicClusterPolicy": _policy,
    "ConfigMap": _config_map,
    "SriovNetworkNodePolicy": _sriov,
    "NetworkAttachmentDefinition": _attachment,
    "IPPool": _addresses,
    "CIDRPool": _addresses,
    "ResourceClaimTemplate": _claim,
    "ResourceClaim": _claim,
    "ClusterPolicy": _gpu_operator,
    "NicConfigurationTemplate": _nic_configuration,
    "KubeletConfiguration": _kubelet,
}
kubernetes_networks = Reader(
    title="RDMA and networks of Kubernetes", claims=_claims, read=_read
)
