"""``docker-compose.yaml``: services with GPUs, their limits and variables."""

from collections.abc import Iterator
from typing import Final

from weft.lint.document import Tree
from weft.lint.facts import Container, Fact, Variable
from weft.lint.jobs import is_of_job
from weft.lint.part import fact
from weft.lint.quantity import docker_bytes
from weft.lint.reader import File, Reader

_LISTS: Final = ("cap_add", "devices")


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
        "gpu" in {c.string() for c in tree["capabilities"].each()} for tree in reserved.each()
    )
    added, devices = (tuple(part.string() for part in service[key].each()) for key in _LISTS)
    return fact(
        Container, service, device=name, name=name, engine="docker",
        privileged=service["privileged"],
        capabilities=tuple(text.removeprefix("CAP_") for text in added),
        shm_bytes=docker_bytes(size) if size else None,
        memlock=memlock["soft"] or memlock["hard"] or memlock,
        devices=tuple(device.partition(":")[0] for device in devices),
        host_network=service["network_mode"].string() == "host",
        host_ipc=service["ipc"].string() == "host",
        gpus=gpus or bool(service["gpus"]) or service["runtime"].string() == "nvidia",
    )  # fmt: skip


def _variables(name: str, environment: Tree) -> Iterator[Fact]:
    if isinstance(environment.value, dict):
        pairs = [(key, part.string(), part) for key, part in environment.items()]
    else:
        texts = ((part.string().partition("="), part) for part in environment.each())
        pairs = [(key, value, part) for (key, equals, value), part in texts if equals]
    for key, value, part in pairs:
        if is_of_job(key):
            yield Variable(at=part.at, device=name, name=key, value=value)


compose = Reader(title="docker compose", claims=_claims, read=_read)
