"""``docker-compose.yaml``: services with GPUs, their limits and variables."""

from collections.abc import Iterator

from weft.lint.document import Tree
from weft.lint.facts import Container, Fact, Variable
from weft.lint.jobs import is_of_job
from weft.lint.quantity import docker_bytes
from weft.lint.reader import File, Reader


def _claims(file: File) -> bool:
    return any(
        isinstance(tree["services"].value, dict) and not tree["apiVersion"]
        for tree in file.documents
    )


def _read(file: File) -> Iterator[Fact]:
    for tree in file.documents:
        for name, service in tree["services"].items():
            yield _container(name, service)
            yield from _variables(name, service["environment"])


def _container(name: str, service: Tree) -> Container:
    memlock = service.under("ulimits", "memlock")
    size = service["shm_size"].string()
    reserved = service.under("deploy", "resources", "reservations", "devices")
    gpus = any(
        "gpu" in {c.string() for c in one["capabilities"].each()} for one in reserved.each()
    )
    return Container(
        at=service.at,
        device=name,
        name=name,
        engine="docker",
        privileged=service["privileged"].true(),
        capabilities=tuple(
            one.string().removeprefix("CAP_") for one in service["cap_add"].each()
        ),
        shm_bytes=docker_bytes(size) if size else None,
        memlock=(memlock["soft"] or memlock["hard"] or memlock).string(),
        devices=tuple(one.string().partition(":")[0] for one in service["devices"].each()),
        host_network=service["network_mode"].string() == "host",
        host_ipc=service["ipc"].string() == "host",
        gpus=gpus or bool(service["gpus"]) or service["runtime"].string() == "nvidia",
    )


def _variables(name: str, environment: Tree) -> Iterator[Fact]:
    if isinstance(environment.value, dict):
        for key, value in environment.items():
            if is_of_job(key):
                yield Variable(at=value.at, device=name, name=key, value=value.string())
        return
    for one in environment.each():
        key, equals, given = one.string().partition("=")
        if equals and is_of_job(key):
            yield Variable(at=one.at, device=name, name=key, value=given)


compose = Reader(title="docker compose", claims=_claims, read=_read)
