"""``docker run`` (podman, nerdctl) in scripts: shared memory, limits, devices, variables."""

from collections.abc import Iterator
from typing import Final

from weft.lint.facts import Container, Fact, Variable
from weft.lint.jobs import is_of_job
from weft.lint.quantity import docker_bytes
from weft.lint.reader import File, Reader
from weft.lint.shell import Command

_ENGINES: Final = frozenset({"docker", "podman", "nerdctl"})


def _claims(file: File) -> bool:
    return any(_runs(command) for command in file.commands)


def _runs(command: Command) -> bool:
    return command.name in _ENGINES and "run" in command.words[1:3]


def _read(file: File) -> Iterator[Fact]:
    for command in file.commands:
        if _runs(command):
            yield _container(command)
            for given in command.options("-e", "--env"):
                name, equals, value = given.partition("=")
                if equals and is_of_job(name):
                    yield Variable(at=command.at, device=command.name, name=name, value=value)


def _container(command: Command) -> Container:
    limits = [option for option in command.options("--ulimit") if option.startswith("memlock")]
    size = command.option("--shm-size")
    return Container(
        at=command.at,
        device=command.name,
        name=command.option("--name") or command.name,
        engine="docker",
        privileged=command.has("--privileged"),
        words=command.words,
        capabilities=tuple(
            option.removeprefix("CAP_") for option in command.options("--cap-add")
        ),
        shm_bytes=docker_bytes(size) if size else None,
        memlock=limits[-1].partition("=")[2] if limits else "",
        devices=tuple(option.partition(":")[0] for option in command.options("--device")),
        host_network="host" in (command.options("--net") + command.options("--network")),
        host_ipc=command.option("--ipc") == "host",
        gpus=command.option("--gpus") is not None or command.option("--runtime") == "nvidia",
    )


docker_run = Reader(title="docker run", claims=_claims, read=_read)
