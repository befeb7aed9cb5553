"""A real API server takes every custom resource that weft renders, and refuses planted faults.

The server is Kubernetes' own apiextensions-apiserver on etcd: the part of an API server that
serves custom resources. scripts/apiserver.sh builds it of Debian's packages. It is asked with
``dryRun=All&fieldValidation=Strict``, as ``kubectl apply --dry-run=server`` does.
"""

import json
import shutil
import socket
import ssl
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from weft.generate.plan import plan
from weft.generate.target import render
from weft.spec.kubernetes import Kubernetes
from weft.spec.load import preset

yaml = pytest.importorskip("yaml", reason="PyYAML is not installed; pip install 'weft[dev]'")

DEFINITIONS = Path(__file__).parents[3] / "shared" / "schemas" / "crds"
MISSING = [
    name
    for name in ("apiextensions-apiserver", "etcd", "openssl")
    if shutil.which(name) is None
]
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
PATIENCE_S = 600
CUSTOM = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
PARTS = (
    "mellanox", "sriovnetwork", "nvipam", "configuration", "nad", "mpijobs", "jobset",
    "ray_rayclusters", "trainer",
)  # fmt: skip
PLUGINS_OFF = (
    "NamespaceLifecycle", "MutatingAdmissionWebhook", "ValidatingAdmissionWebhook",
    "MutatingAdmissionPolicy", "ValidatingAdmissionPolicy",
)  # fmt: skip
PCI = tuple(f"0000:{number:02x}:00.0" for number in range(0x1A, 0x1A + 8))
MODES = (
    ("hgx_h100_roce", "host_device"), ("hgx_h100_roce", "sriov_ethernet"),
    ("hgx_h100_roce", "macvlan_shared"), ("hgx_h100_roce", "multus"),
    ("dgx_h100", "host_device"), ("dgx_h100", "sriov_infiniband"), ("dgx_h100", "ipoib_shared"),
)  # fmt: skip

pytestmark = [
    pytest.mark.tool,
    pytest.mark.slow,
    pytest.mark.skipif(
        bool(MISSING),
        reason=f"not on PATH: {', '.join(MISSING)}; scripts/apiserver.sh builds them",
    ),
    pytest.mark.skipif(
        not DEFINITIONS.is_dir(), reason=f"definitions of custom resources not in {DEFINITIONS}"
    ),
]


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def _certificates(folder: Path) -> None:
    """Make an authority, and with it a certificate of the server and of a master."""

    def openssl(*words: str) -> None:
        subprocess.run(["openssl", *words], check=True, capture_output=True, cwd=folder)

    openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "ca.key", "-out",
            "ca.crt", "-days", "1", "-subj", "/CN=authority")  # fmt: skip
    (folder / "server.ext").write_text("subjectAltName=IP:127.0.0.1\n")
    (folder / "client.ext").write_text("extendedKeyUsage=clientAuth\n")
    for name, subject in (("server", "/CN=server"), ("client", "/O=system:masters/CN=weft")):
        openssl("req", "-newkey", "rsa:2048", "-nodes", "-keyout", f"{name}.key", "-out",
                f"{name}.csr", "-subj", subject)  # fmt: skip
        openssl("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.crt", "-CAkey", "ca.key",
                "-CAcreateserial", "-out", f"{name}.crt", "-days", "1", "-extfile",
                f"{name}.ext")  # fmt: skip


def _itself(folder: Path, port: int) -> Path:
    """Write how the server reaches the API of its cluster: it is that itself."""
    config = {
        "apiVersion": "v1", "kind": "Config", "current-context": "x",
        "clusters": [{"name": "x", "cluster": {
            "server": f"https://127.0.0.1:{port}",
            "certificate-authority": str(folder / "ca.crt")}}],
        "users": [{"name": "x", "user": {
            "client-certificate": str(folder / "client.crt"),
            "client-key": str(folder / "client.key")}}],
        "contexts": [{"name": "x", "context": {"cluster": "x", "user": "x"}}],
    }  # fmt: skip
    path = folder / "itself.yaml"
    path.write_text(json.dumps(config))
    return path


class Server:
    """The API server, asked as a master."""

    def __init__(self, folder: Path, port: int):
        self.plurals: dict[tuple[str, str], str] = {}
        self.root = f"https://127.0.0.1:{port}"
        self.trust = ssl.create_default_context(cafile=str(folder / "ca.crt"))
        self.trust.load_cert_chain(folder / "client.crt", folder / "client.key")
        handler = urllib.request.HTTPSHandler(context=self.trust)
        self.opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), handler)

    def ask(self, path: str, body: dict | None = None) -> tuple[int, str]:
        """Return status and text of an answer."""
        request = urllib.request.Request(  # noqa: S310 - its own server
            self.root + path,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json"},
        )
        try:
            with self.opener.open(request, timeout=PATIENCE_S) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as refused:
            return refused.code, refused.read().decode()
        except (urllib.error.URLError, ConnectionError, TimeoutError) as failure:
            return 0, str(failure)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("api")
    _certificates(folder)
    etcd, peer, port = _free_port(), _free_port(), _free_port()
    itself = _itself(folder, port)
    with (folder / "log").open("w") as log:
        store = subprocess.Popen(
            ["etcd", "--data-dir", str(folder / "etcd"), "--unsafe-no-fsync",
             "--listen-client-urls", f"http://127.0.0.1:{etcd}",
             "--advertise-client-urls", f"http://127.0.0.1:{etcd}",
             "--listen-peer-urls", f"http://127.0.0.1:{peer}"],
            stdout=log, stderr=log,
        )  # fmt: skip
        api = subprocess.Popen(
            ["apiextensions-apiserver", "--etcd-servers", f"http://127.0.0.1:{etcd}",
             "--secure-port", str(port), "--bind-address", "127.0.0.1",
             "--tls-cert-file", str(folder / "server.crt"),
             "--tls-private-key-file", str(folder / "server.key"),
             "--client-ca-file", str(folder / "ca.crt"),
             "--authentication-skip-lookup", "--authentication-kubeconfig", str(itself),
             "--authorization-kubeconfig", str(itself), "--kubeconfig", str(itself),
             "--disable-admission-plugins", ",".join(PLUGINS_OFF)],
            stdout=log, stderr=log,
        )  # fmt: skip
    try:
        asked = Server(folder, port)
        end = time.monotonic() + PATIENCE_S
        # It is never ready by its own account: there are no Services, which it would watch.
        while asked.ask(CUSTOM)[0] != 200:
            assert time.monotonic() < end, (folder / "log").read_text()[-4000:]
            time.sleep(0.2)
        _define(asked)
        yield asked
    finally:
        for process in (api, store):
            process.kill()
            process.wait()


def _define(server: Server) -> None:
    """Give the server every definition, and wait until it serves them."""
    kinds = []
    for part in PARTS:
        for file in sorted(DEFINITIONS.glob(f"{part}*.yaml")):
            for made in yaml.load_all(file.read_text("utf-8"), Loader=LOADER):
                if not made or made.get("kind") != "CustomResourceDefinition":
                    continue
                made["spec"].pop("conversion", None)  # a webhook that nobody serves here
                kept = "api-approved.kubernetes.io"
                made["metadata"].setdefault("annotations", {})[kept] = "unapproved, a test"
                code, text = server.ask(CUSTOM, made)
                assert code == 201, text
                kinds.append(made["spec"])
    end = time.monotonic() + PATIENCE_S
    for spec in kinds:
        version = spec["versions"][0]["name"]
        path = f"/apis/{spec['group']}/{version}/{spec['names']['plural']}"
        while server.ask(path)[0] != 200:
            assert time.monotonic() < end, path
            time.sleep(0.2)
    for spec in kinds:
        server.plurals[spec["group"], spec["names"]["kind"]] = spec["names"]["plural"]


OWN = {"PyTorchJob"}
"""Custom resources whose definition is not among the published ones here."""


def _posted(server: Server, manifest: dict) -> tuple[int, str]:
    group, _, version = manifest["apiVersion"].partition("/")
    plural = server.plurals[group, manifest["kind"]]
    namespace = manifest["metadata"].get("namespace")
    inside = f"namespaces/{namespace}/" if namespace else ""
    path = f"/apis/{group}/{version}/{inside}{plural}?dryRun=All&fieldValidation=Strict"
    return server.ask(path, manifest)


def _custom(name: str, mode: str):
    cluster = preset(name, hosts=4).with_(kubernetes=Kubernetes(mode=mode, pci_addresses=PCI))
    made = plan(cluster)
    for file in render(made, ["kubernetes", "kubernetes_jobs"]).files:
        if file.path.endswith(".yaml") and "00-values" not in file.path:
            for manifest in yaml.load_all(file.text, Loader=LOADER):
                if (
                    "." in manifest["apiVersion"].partition("/")[0]
                    and manifest["kind"] not in OWN
                ):
                    yield manifest


@pytest.mark.parametrize(("name", "mode"), MODES)
def test_the_server_takes_every_custom_resource(name, mode, server):
    asked = 0
    for manifest in _custom(name, mode):
        code, text = _posted(server, manifest)
        assert code == 201, text
        asked += 1
    assert asked >= 10


FAULTS = {
    "unknown field": ("NicClusterPolicy", lambda spec: spec.update(multus={})),
    "MTU as text": ("SriovNetworkNodePolicy", lambda spec: spec.update(mtu="9000")),
    "no resource": ("SriovNetwork", lambda spec: spec.pop("resourceName")),
    "prefix as text": ("CIDRPool", lambda spec: spec.update(perNodeNetworkPrefix="31")),
    "no replicas": ("MPIJob", lambda spec: spec.pop("mpiReplicaSpecs")),
    "no template": ("JobSet", lambda spec: spec["replicatedJobs"][0].pop("template")),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_the_server_refuses_a_planted_fault(fault, server):
    """Or else no complaint would mean nothing."""
    kind, plant = FAULTS[fault]
    made = {one["kind"]: one for one in _custom("hgx_h100_roce", "sriov_ethernet")}[kind]
    plant(made["spec"])
    code, text = _posted(server, made)
    assert code in {400, 422}, text
