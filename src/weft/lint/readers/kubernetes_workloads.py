"""Pods of any kind of object: containers, devices, networks, environment, commands."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from weft.lint.document import Tree
from weft.lint.facts import Container, Fact, Named, Variable, Workload
from weft.lint.jobs import is_of_job, job_facts
from weft.lint.manifests import name_of, objects
from weft.lint.quantity import kubernetes_bytes
from weft.lint.reader import File, Reader
from weft.lint.shell import commands_in
from weft.readers.untrusted import json_value

_NETWORKS: Final = "k8s.v1.cni.cncf.io/networks"
_SETTINGS: Final = (
    ("slotsPerWorker",),
    ("nprocPerNode",),
    ("trainer", "numProcPerNode"),
    ("trainer", "numNodes"),
    ("elasticPolicy", "nProcPerNode"),
)
_REACHED: Final = frozenset({"Service", "JobSet", "PyTorchJob", "MPIJob"})
_KEPT: Final = frozenset(
    {"/bin/sh", "/bin/bash", "sh", "bash", "-c", "-lc", "-ec", "-xc", "-exc"}
)
_LONGEST_PATH: Final = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pod:
    """A pod specification found in an object."""

    spec: Tree
    metadata: Tree
    role: str
    replicas: int | None


def _claims(file: File) -> bool:
    return any(True for _ in objects(file))


def _read(file: File) -> Iterator[Fact]:
    for tree in objects(file):
        if tree["kind"].string() == "CustomResourceDefinition":
            continue
        for pod in _pods(tree, "", None, 0):
            yield from _pod(tree, pod)
        yield from _trainer(tree)
        yield from _reached(tree)
        if tree["kind"].string() == "ConfigMap":
            yield from _config_map(tree)


def _pods(tree: Tree, role: str, replicas: int | None, depth: int) -> Iterator[_Pod]:
    if depth > _LONGEST_PATH:
        return
    own = tree["replicas"].number() or tree["size"].number()
    replicas = own if own is not None else replicas
    at_once, wanted = tree["parallelism"].number(), tree["completions"].number()
    if at_once is not None:
        replicas = (replicas or 1) * min(at_once, wanted or at_once)
    for key, part in tree.items():
        if key == "spec" and isinstance(part["containers"].value, list):
            yield _Pod(spec=part, metadata=tree["metadata"], role=role, replicas=replicas)
        elif isinstance(part.value, dict):
            named = role if key in {"spec", "template", "jobTemplate"} else key
            yield from _pods(part, named, replicas, depth + 1)
        elif isinstance(part.value, list) and key not in {"containers", "volumes", "env"}:
            for item in part.each():
                named = item["name"].string() if isinstance(item.value, dict) else role
                yield from _pods(item, named or role, replicas, depth + 1)


def _pod(tree: Tree, pod: _Pod) -> Iterator[Fact]:
    device = name_of(tree) + (f" {pod.role}" if pod.role else "")
    spec = pod.spec
    claims = (
        (tree["resourceClaimTemplateName"] or tree["resourceClaimName"]).string()
        for tree in spec["resourceClaims"].each()
    )
    yield Workload(
        at=spec.at,
        device=device,
        kind=tree["kind"].string(),
        role=pod.role,
        replicas=pod.replicas,
        networks=tuple(_networks(pod.metadata)),
        host_network=spec["hostNetwork"].true(),
        host_ipc=spec["hostIPC"].true(),
        dns_policy=spec["dnsPolicy"].string(),
        shm_bytes=_shared(spec),
        claims=tuple(claim for claim in claims if claim),
        settings=tuple(_settings(tree)),
    )
    for container in spec["containers"].each():
        yield from _container(container, device)


def _settings(tree: Tree) -> Iterator[tuple[str, str]]:
    for path in _SETTINGS:
        value = tree["spec"].under(*path)
        if value:
            yield path[-1], value.string()


def _networks(metadata: Tree) -> Iterator[str]:
    text = metadata["annotations"][_NETWORKS].string().strip()
    if text.startswith("["):
        try:
            entries = json_value(text)
        except ValueError:
            return
        for entry in entries:
            if isinstance(entry, dict) and "name" in entry:
                space = entry.get("namespace")
                yield f"{space}/{entry['name']}" if space else str(entry["name"])
    else:
        for part in text.split(","):
            if part.strip():
                yield part.strip().partition("@")[0]


def _shared(spec: Tree) -> int | None:
    """Return the size of the memory on /dev/shm; None where there is none."""
    mounted = {
        mount["name"].string()
        for container in spec["containers"].each()
        for mount in container["volumeMounts"].each()
        if mount["mountPath"].string().rstrip("/") == "/dev/shm"  # noqa: S108 - a path in pods
    }
    for volume in spec["volumes"].each():
        if volume["name"].string() in mounted:
            empty = volume["emptyDir"]
            if volume["hostPath"]:
                return 0
            if empty["medium"].string() == "Memory":
                limit = empty["sizeLimit"].string()
                return (kubernetes_bytes(limit) or 0) if limit else 0
    return None


def _container(container: Tree, device: str) -> Iterator[Fact]:
    security = container["securityContext"]
    words = tuple(
        tree.string() for key in ("command", "args") for tree in container[key].each()
    )
    yield Container(
        at=container.at,
        device=device,
        name=container["name"].string(),
        limits=_pairs(container.under("resources", "limits")),
        requests=_pairs(container.under("resources", "requests")),
        capabilities=tuple(
            tree.string().removeprefix("CAP_")
            for tree in security.under("capabilities", "add").each()
        ),
        privileged=security["privileged"].true(),
        words=words,
    )
    yield from _environment(container, device)


def _environment(container: Tree, device: str) -> Iterator[Fact]:
    for tree in container["env"].each():
        name = tree["name"].string()
        if tree["value"] and is_of_job(name):
            yield Variable(
                at=tree["value"].at, device=device, name=name, value=tree["value"].string()
            )
    words = [tree.string() for key in ("command", "args") for tree in container[key].each()]
    at = (container["args"] or container["command"]).at
    scripts = [word for word in words if "\n" in word or " " in word]
    plain = [word for word in words if word not in scripts and word not in _KEPT]
    for script in [*scripts, " ".join(plain)]:
        yield from job_facts(commands_in(script, at), device)


def _pairs(tree: Tree) -> tuple[tuple[str, str], ...]:
    return tuple((key, value.string()) for key, value in tree.items())


def _reached(tree: Tree) -> Iterator[Fact]:
    """Yield the name that an object gives pods to be reached by."""
    kind = tree["kind"].string()
    name = tree.under("metadata", "name")
    if kind in _REACHED:
        yield Named(at=name.at, device=name_of(tree), kind=kind, name=name.string())
    subdomain = tree.under("spec", "network", "subdomain")
    if subdomain:
        yield Named(at=subdomain.at, device=name_of(tree), kind=kind, name=subdomain.string())


def _trainer(tree: Tree) -> Iterator[Fact]:
    """Yield the trainer of a TrainJob, which has no pod of its own."""
    trainer = tree.under("spec", "trainer")
    if tree["kind"].string() != "TrainJob" or not trainer:
        return
    device = name_of(tree)
    resources = trainer["resourcesPerNode"]
    yield Container(
        at=trainer.at,
        device=device,
        name="trainer",
        engine="TrainJob",
        limits=_pairs(resources["limits"]),
        requests=_pairs(resources["requests"]),
        words=tuple(
            tree.string() for key in ("command", "args") for tree in trainer[key].each()
        ),
    )
    yield from _environment(trainer, device)


def _config_map(tree: Tree) -> Iterator[Fact]:
    """Yield the variables that a ConfigMap holds, by key or as the text of a file."""
    for key, part in tree["data"].items():
        if is_of_job(key):
            yield Variable(at=part.at, device=name_of(tree), name=key, value=part.string())
        elif "NCCL_" in part.string():
            yield from job_facts(commands_in(part.string(), part.at), name_of(tree))


kubernetes_workloads = Reader(title="workloads of Kubernetes", claims=_claims, read=_read)
