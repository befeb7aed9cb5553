"""What a launcher is: hosts and a command in, the words that start it there out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

from weft import plugins
from weft.bench import launchers
from weft.bench.command import Command


@dataclass(frozen=True, slots=True, kw_only=True)
class Launcher:
    """One way to start a command on hosts.

    ``on`` starts one process on one host. ``over`` starts all ranks of a job at once, as MPI
    and Slurm do; a launcher has one of the two.
    """

    title: str
    takes: str
    """What --hosts names."""
    on: Callable[[str, Command], tuple[str, ...]] | None = None
    over: Callable[[Sequence[str], int, Command], tuple[str, ...]] | None = None
    """Hosts, ranks on each, command."""
    needs_master: bool = False
    """Whether the names of hosts are no addresses, so that the first needs one."""
    passes_input: bool = True
    """Whether each process that it starts reads our standard input."""
    here: bool = False
    """Whether the environment can be set by us, because the process is a child of ours."""


@cache
def find(name: str) -> Launcher:
    """Load a launcher by name."""
    return plugins.load(launchers, name, Launcher)
