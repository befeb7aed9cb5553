"""What starts a job and what is in its environment, from commands wherever they stand."""

from collections.abc import Iterable, Iterator
from typing import Final

from weft.lint.facts import Fact, Launch, Variable
from weft.lint.names import names
from weft.lint.part import fact
from weft.lint.shell import Command

PREFIXES: Final = tuple(names("variables.of_jobs"))
NAMES: Final = frozenset(names("variables.of_jobs_exactly"))
LAUNCHERS: Final = frozenset(names("programs.launchers"))


def is_of_job(name: str) -> bool:
    """Return whether a variable is one that communication reads."""
    return name.startswith(PREFIXES) or name in NAMES


def job_facts(commands: Iterable[Command], device: str = "") -> Iterator[Fact]:
    """Yield the variables and the launches of some commands."""
    for command in commands:
        for name, value in command.assignments:
            if is_of_job(name):
                exported = None if command.words else command.exported
                given = {"device": device, "exported": exported}
                yield fact(Variable, command, name=name, value=value, **given)
        if command.name in LAUNCHERS or _torch_module(command):
            yield from _launch(command, device)


def _torch_module(command: Command) -> bool:
    return command.name.startswith("python") and command.has(
        "torch.distributed.run", "torch.distributed.launch"
    )


def _launch(command: Command, device: str) -> Iterator[Fact]:
    tool = "torchrun" if _torch_module(command) else command.name
    yield Launch(at=command.at, device=device, tool=tool, words=command.words)
    for given in command.options("-x", "-env", "-genv", "--export"):
        for part in given.split(",") if tool == "srun" else [given]:
            name, equals, value = part.partition("=")
            if equals and is_of_job(name):
                yield Variable(at=command.at, device=device, name=name, value=value)
