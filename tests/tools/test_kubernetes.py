"""Every rendered manifest against published schemas, as strictly as an API server would.

Built-in kinds: kubernetes-validate, which carries the schemas of Kubernetes itself. Custom
resources: the operators' own definitions, with unknown fields as errors, defaults filled in
first, and the rules in CEL that they state. JSON inside a manifest, which no schema reads, is
read here.
"""

import copy
import itertools
import json
import re
import shutil
import subprocess
from functools import cache
from ipaddress import ip_address, ip_network
from pathlib import Path

import pytest

from weft.generate.plan import plan
from weft.generate.target import reason_against, render
from weft.spec.cluster import Tenant
from weft.spec.kubernetes import Kubernetes
from weft.spec.load import preset

INSTALL = "is not installed; pip install 'weft[dev]'"
yaml = pytest.importorskip("yaml", reason=f"PyYAML {INSTALL}")
jsonschema = pytest.importorskip("jsonschema", reason=f"jsonschema {INSTALL}")
cel = pytest.importorskip("cel", reason=f"common-expression-language {INSTALL}")
published = pytest.importorskip("kubernetes_validate", reason=f"kubernetes-validate {INSTALL}")

DEFINITIONS = Path(__file__).parents[3] / "shared" / "schemas" / "crds"
KUBERNETES = "1.37"
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
KEPT = (
    "type", "enum", "pattern", "minimum", "maximum", "minLength", "maxLength", "minItems",
    "maxItems", "uniqueItems", "required", "multipleOf", "minProperties", "maxProperties",
)  # fmt: skip
PCI = tuple(f"0000:{number:02x}:00.0" for number in range(0x1A, 0x1A + 8))
PARTS = (
    "mellanox", "sriovnetwork", "nvipam", "configuration", "nad", "mpijobs", "jobset",
    "ray_rayclusters", "trainer",
)  # fmt: skip
OWN_SCHEMA = {"PyTorchJob"}
"""Kinds whose definition is not among the published ones here."""

pytestmark = [
    pytest.mark.tool,
    pytest.mark.skipif(
        not DEFINITIONS.is_dir(), reason=f"definitions of custom resources not in {DEFINITIONS}"
    ),
]


def _schema(stated: dict, *, top: bool = False) -> dict:
    """Turn what a definition states into JSON Schema where unknown fields are errors."""
    made = {key: stated[key] for key in KEPT if key in stated}
    if stated.get("x-kubernetes-int-or-string"):
        made.pop("type", None)
        made["anyOf"] = [{"type": "integer"}, {"type": "string"}]
    for key in ("anyOf", "allOf", "oneOf"):
        if key in stated and "anyOf" not in made:
            made[key] = [_schema(one) | {"additionalProperties": True} for one in stated[key]]
    if stated.get("nullable") and "type" in made:
        made["type"] = [made["type"], "null"]
    if "items" in stated:
        made["items"] = _schema(stated["items"])
    if "properties" in stated:
        made["properties"] = {k: _schema(v) for k, v in stated["properties"].items()}
        if top:
            made["properties"]["metadata"] = {"type": "object"}
    further = stated.get("additionalProperties")
    if further is not None:
        made["additionalProperties"] = (
            _schema(further) if isinstance(further, dict) else further
        )
    elif "properties" in stated and not stated.get("x-kubernetes-preserve-unknown-fields"):
        made["additionalProperties"] = False
    return made


def _defaulted(stated: dict, value: object) -> object:
    """Fill in defaults, as the API server does before it validates."""
    if isinstance(value, list):
        return [_defaulted(stated.get("items", {}), one) for one in value]
    if not isinstance(value, dict):
        return value
    known = stated.get("properties", {})
    further = stated.get("additionalProperties")
    other = further if isinstance(further, dict) else {}
    made = {key: _defaulted(known.get(key, other), one) for key, one in value.items()}
    for key, one in known.items():
        if key not in made and "default" in one:
            made[key] = _defaulted(one, copy.deepcopy(one["default"]))
    return made


def _broken(stated: dict, value: object, path: str):
    """Yield the rules in CEL, and the unique keys of lists, that a value breaks."""
    for rule in stated.get("x-kubernetes-validations", []):
        # Go's [[] and []] are other ways to write what this evaluator takes escaped.
        text = rule["rule"].replace("[[]", "[\\\\[]").replace("[]]", "[\\\\]]")
        if "oldSelf" not in text and cel.evaluate(text, {"self": value}) is not True:
            yield f"{path}: {rule.get('message', rule['rule'])}"
    if isinstance(value, list):
        if stated.get("x-kubernetes-list-type") == "map":
            names = stated["x-kubernetes-list-map-keys"]
            keys = [tuple(str(one.get(name)) for name in names) for one in value]
            if len(set(keys)) != len(keys):
                yield f"{path}: one key twice"
        for number, one in enumerate(value):
            yield from _broken(stated.get("items", {}), one, f"{path}[{number}]")
    elif isinstance(value, dict):
        further = stated.get("additionalProperties")
        other = further if isinstance(further, dict) else {}
        for key, one in value.items():
            yield from _broken(
                stated.get("properties", {}).get(key, other), one, f"{path}.{key}"
            )


class Definitions:
    """The custom resources, by version and kind."""

    def __init__(self, folder: Path):
        self.stated = {}
        self.checked = {}
        self.seen = {}
        for file in sorted(one for part in PARTS for one in folder.glob(f"{part}*.yaml")):
            for made in yaml.load_all(file.read_text("utf-8"), Loader=LOADER):
                if not made or made.get("kind") != "CustomResourceDefinition":
                    continue
                for version in made["spec"]["versions"]:
                    api = f"{made['spec']['group']}/{version['name']}"
                    key = (api, made["spec"]["names"]["kind"])
                    self.stated[key] = (
                        version["schema"]["openAPIV3Schema"], made["spec"]["scope"],
                    )  # fmt: skip

    def problems(self, manifest: dict) -> list[str]:
        """Return what a cluster would have against a manifest."""
        key = (manifest["apiVersion"], manifest["kind"])
        if key in self.stated:
            stated, scope = self.stated[key]
            value = _defaulted(stated, manifest)
            if key not in self.checked:
                schema = _schema(stated, top=True)
                self.checked[key] = jsonschema.Draft202012Validator(schema)
            found = [
                f"{'/'.join(map(str, error.absolute_path))}: {error.message[:200]}"
                for error in self.checked[key].iter_errors(value)
            ]
            if (scope == "Namespaced") != ("namespace" in manifest["metadata"]):
                found.append(f"metadata/namespace: the kind is {scope}")
            return found or list(_broken(stated, value, ""))
        if manifest["kind"] in OWN_SCHEMA:
            return []
        text = json.dumps(manifest, sort_keys=True)
        if text not in self.seen:
            self.seen[text] = list(_against_published(manifest))
        return self.seen[text]


def _against_published(manifest: dict):
    try:
        published.validate(manifest, KUBERNETES, strict=True)
    except (published.ValidationError, published.SchemaNotFoundError) as failure:
        yield str(failure)[:300]


@pytest.fixture(scope="module")
def definitions():
    return Definitions(DEFINITIONS)


def _pods(value: object):
    """Yield every template of a pod, wherever it is."""
    if isinstance(value, dict):
        if "containers" in value.get("spec", {}):
            yield value
        for one in value.values():
            yield from _pods(one)
    elif isinstance(value, list):
        for one in value:
            yield from _pods(one)


def _case(name: str, **wishes):
    cluster = preset(name, hosts=4)
    if cluster.host.gpu.startswith("mi"):
        wishes |= {"image": "a/b:1", "tools_image": "a/c:1", "ray_image": "a/d:1"}
    return cluster.with_(kubernetes=Kubernetes(**wishes) if wishes else None)


TENANTS = (Tenant(name="red", hosts=2), Tenant(name="blue", hosts=1))
CASES = {
    "host device on RoCE": _case("hgx_h100_roce"),
    "host device on RoCE, NICs named": _case("hgx_h100_roce", pci_addresses=PCI),
    "host device on InfiniBand": _case("dgx_h100"),
    "host device on InfiniBand, NICs named": _case("dgx_h100", pci_addresses=PCI),
    "SR-IOV on Ethernet": _case("hgx_h100_roce", mode="sriov_ethernet"),
    "SR-IOV on Ethernet, NICs named": _case(
        "hgx_h100_roce", mode="sriov_ethernet", pci_addresses=PCI
    ),
    "SR-IOV on InfiniBand": _case("dgx_h100", mode="sriov_infiniband"),
    "pods that share a host": _case("dgx_h100", pods_per_host=4),
    "macvlan": _case("hgx_h100_roce", mode="macvlan_shared", namespace="training"),
    "IPoIB": _case("dgx_h100", mode="ipoib_shared"),
    "DRANET": _case("hgx_h100_roce", mode="dranet"),
    "Multus": _case("mi300x_roce"),
    "EFA": _case("aws_p5"),
    "TCP": _case("h100_tcp_100g"),
    "rented, RoCE": _case("gcp_a4"),
    "rented, InfiniBand": _case("azure_nd_h100_v5"),
    "one host": _case("hgx_h100_roce").with_(hosts=1),
    "two tenants": _case("dgx_h100").with_(tenants=TENANTS),
    "two tenants that share hosts": _case("dgx_h100", pods_per_host=4).with_(tenants=TENANTS),
}


@cache
def _texts(cluster, target: str):
    return render(plan(cluster), [target]).files


def _documents(cluster, target: str):
    for file in _texts(cluster, target):
        if file.path.endswith(".yaml") and "00-values" not in file.path:
            for made in yaml.load_all(file.text, Loader=LOADER):
                yield file.path, made


TARGETS = ("kubernetes", "kubernetes_jobs")


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("case", CASES)
@pytest.mark.proves(
    "kubernetes",
    "kubernetes_jobs",
    effect="every manifest is valid, unknown fields being errors",
    tool="kubernetes",
)
def test_a_cluster_would_take_every_manifest(case, target, definitions):
    problems = [
        f"{path} {made['kind']}: {problem}"
        for path, made in _documents(CASES[case], target)
        for problem in definitions.problems(made)
    ]
    assert not problems


@pytest.mark.parametrize("case", CASES)
def test_every_template_of_a_pod_is_one_that_kubernetes_takes(case, definitions):
    """Operators keep templates as they are; a cluster sees a mistake only when pods start."""
    seen = 0
    for path, made in _documents(CASES[case], "kubernetes_jobs"):
        for template in _pods(made):
            pod = {
                "apiVersion": "v1", "kind": "Pod",
                "metadata": {"name": "x", **template["metadata"]}, "spec": template["spec"],
            }  # fmt: skip
            assert not definitions.problems(pod), path
            seen += 1
    assert seen >= 10


@pytest.mark.parametrize("case", CASES)
def test_json_inside_a_manifest_is_json(case):
    for path, made in _documents(CASES[case], "kubernetes"):
        spec = made.get("spec", {})
        for key in ("ipam", "config"):
            if isinstance(spec.get(key), str):
                json.loads(spec[key])
        if "metaPlugins" in spec:
            assert {one["type"] for one in json.loads(f"[{spec['metaPlugins']}]")} == {
                "sbr", "tuning",
            }, path  # fmt: skip
        for plugin in ("sriovDevicePlugin", "rdmaSharedDevicePlugin"):
            if plugin in spec:
                json.loads(spec[plugin]["config"])


def test_a_pool_gives_each_host_the_address_that_its_leaf_expects():
    cluster = CASES["host device on RoCE"]
    texts = {file.path: file.text for file in render(plan(cluster), ["linux_host"]).files}
    rows = [row.split("\t") for row in texts["linux_host/rails.tsv"].splitlines()[1:]]
    wanted = {(row[0], row[2], row[3]) for row in rows}
    given = set()
    for _, made in _documents(cluster, "kubernetes"):
        if made["kind"] == "CIDRPool":
            for one in made["spec"]["staticAllocations"]:
                prefix, gateway = ip_network(one["prefix"]), ip_address(one["gateway"])
                assert prefix.subnet_of(ip_network(made["spec"]["cidr"]))
                assert gateway == prefix[made["spec"]["gatewayIndex"]]
                (own,) = set(prefix) - {gateway}
                given.add((one["nodeName"], f"{own}/31", str(gateway)))
    assert given == wanted


def test_flat_subnets_have_room_and_do_not_overlap():
    for case in ("host device on InfiniBand", "pods that share a host"):
        cluster = CASES[case]
        found = []
        for _, made in _documents(cluster, "kubernetes"):
            if made["kind"] == "IPPool":
                subnet = ip_network(made["spec"]["subnet"])
                block = made["spec"]["perNodeBlockSize"]
                assert (
                    block >= plan(cluster).cluster.kubernetes.pods_per_host
                    if "share" in case
                    else 1
                )
                assert subnet.num_addresses - 2 >= block * cluster.hosts
                found.append(subnet)
        assert len(found) == cluster.host.nics
        assert not any(a.overlaps(b) for a, b in itertools.combinations(found, 2))


@pytest.mark.skipif(
    shutil.which("shellcheck") is None, reason="not installed: shellcheck; run scripts/tools.sh"
)
@pytest.mark.parametrize("case", CASES)
def test_every_script_is_one_that_shellcheck_has_nothing_against(case):
    scripts = {
        argument
        for _, made in _documents(CASES[case], "kubernetes_jobs")
        for text in re.findall(r'"args": (\[.*?\])[,}]', json.dumps(made))
        for argument in json.loads(text)
    }
    scripts |= {
        file.text for file in _texts(CASES[case], "kubernetes") if file.text.startswith("#!")
    }
    assert len(scripts) > 1
    for script in scripts:
        checked = subprocess.run(
            ["shellcheck", "--shell=bash", "--severity=warning", "-"],
            input=script, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert checked.returncode == 0, checked.stdout


FAULTS = {
    "unknown field": lambda d: d["NicClusterPolicy"]["spec"].update(multus={}),
    "image of a part missing": lambda d: d["NicClusterPolicy"]["spec"]["nvIpam"].pop("image"),
    "MTU as text": lambda d: d["SriovNetworkNodePolicy"]["spec"].update(mtu="9000"),
    "no resource": lambda d: d["SriovNetwork"]["spec"].pop("resourceName"),
    "word for a link": lambda d: d["SriovNetworkNodePolicy"]["spec"].update(linkType="RoCE"),
    "PFC of seven": lambda d: d["NicConfigurationTemplate"]["spec"]["template"][
        "roceOptimized"
    ]["qos"].update(pfc="0,0,0,1,0,0,0"),
    "namespace of a cluster's object": lambda d: d["NicClusterPolicy"]["metadata"].update(
        namespace="x"
    ),
    "prefix as text": lambda d: d["CIDRPool"]["spec"].update(perNodeNetworkPrefix="31"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_seen(fault, definitions):
    """Or else no complaint would mean nothing."""
    case = CASES["SR-IOV on Ethernet, NICs named"]
    made = {one["kind"]: one for _, one in _documents(case, "kubernetes")}
    FAULTS[fault](made)
    assert sum(bool(definitions.problems(one)) for one in made.values()) == 1


def test_the_cases_are_all_modes_and_no_target_refuses_them():
    modes = {plan(cluster).kubernetes.mode.text() for cluster in CASES.values()}
    assert modes == {
        "host_device", "sriov_ethernet", "sriov_infiniband", "macvlan_shared", "ipoib_shared",
        "dranet", "multus", "efa", "host_network",
    }  # fmt: skip
    for cluster in CASES.values():
        assert all(reason_against(target, plan(cluster)) is None for target in TARGETS)
