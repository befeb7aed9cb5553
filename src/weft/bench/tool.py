"""What a benchmark is: what was asked in, the processes that measure it out."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Final

from weft import plugins
from weft.bench import tools
from weft.bench.command import Command
from weft.errors import SpecError

ITERATIONS: Final = 20
WARMUP: Final = 5
"""Of a collective, where nothing else is asked: those of nccl-tests."""
WORDS: Final = {
    "smallest_bytes": "--begin", "largest_bytes": "--end", "factor": "--factor",
    "iterations": "--iterations", "warmup": "--warmup", "ranks_per_host": "--ranks-per-host",
    "master": "--master", "interface": "--interface", "backend": "--backend",
    "seconds": "--seconds", "streams": "--streams", "python": "--python",
}  # fmt: skip
"""The option of each part of an Ask that a tool may not heed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """What to measure, where."""

    operation: str = "all_reduce"
    smallest_bytes: int = 8
    largest_bytes: int = 1 << 30
    factor: float = 2.0
    iterations: int | None = None
    """Of each size; none: what the tool does."""
    warmup: int | None = None
    """Before they count; none: what the tool does."""
    hosts: tuple[str, ...] = ()
    ranks_per_host: int = 1
    master: str = ""
    """Address at which the first host is reached; empty: its name."""
    interface: str = ""
    backend: str = ""
    seconds: float = 10.0
    streams: int = 1
    env: Mapping[str, str] = field(default_factory=dict)
    options: tuple[str, ...] = ()
    """Words added to the command of the tool."""
    python: str = ""
    """Program of the hosts; empty: python3, and on this host the one that runs weft."""
    gang: bool = False
    """Whether the launcher starts all ranks at once."""

    @property
    def first(self) -> str:
        """Address of the first host."""
        return self.master or (self.hosts[0].rpartition("@")[2] if self.hosts else "127.0.0.1")

    @property
    def places(self) -> tuple[str, ...]:
        """Hosts, or this one."""
        return self.hosts or ("localhost",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """One process of a benchmark."""

    command: Command
    host: int = 0
    """Place of its host in the list; a gang has all of them."""
    gang: bool = False
    serves: bool = False
    """A server: it is started first and ended when the others have."""
    answers: bool = False
    """Its output holds the result."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One benchmark."""

    title: str
    program: str
    """The program that must be there."""
    processes: Callable[[Ask], tuple[Process, ...]]
    operations: frozenset[str]
    """What it can measure."""
    takes: frozenset[str]
    """What of an Ask it heeds besides hosts, operation, variables and words added."""
    version: Callable[[Ask], Command] | None = None
    """What prints its version, where its output does not."""

    def check(self, given: Iterable[str]) -> None:
        """Refuse what was asked for and the tool would not heed."""
        for name in given:
            if name not in self.takes:
                known = ", ".join(sorted(WORDS[one] for one in self.takes))
                raise SpecError(f"{self.title} takes no {WORDS[name]}; it takes: {known}")


@cache
def find(name: str) -> Tool:
    """Load a tool by name, however its dashes and dots are written."""
    return plugins.load(tools, name.replace("-", "_").replace(".", "_"), Tool)


def pair(ask: Ask, title: str) -> tuple[int, int]:
    """Return the places of server and client of a tool for two hosts."""
    if len(ask.places) > 2:  # noqa: PLR2004 - a pair
        raise SpecError(
            f"{title} measures one pair; {len(ask.places)} hosts are named (weft bench "
            "localise plans pairs)"
        )
    return 0, len(ask.places) - 1
