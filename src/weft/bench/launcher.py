"""What a launcher is: hosts and a command in, the words that start it there out."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from weft import plugins
from weft.bench import launchers
from weft.bench.command import Command
from weft.errors import SpecError

_HOST: Final = re.compile(r"(?:[A-Za-z0-9_][\w.-]{0,62}@)?[A-Za-z0-9\[][\w.:\[\]/-]{0,252}")


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
    here: bool = False
    """Whether the environment can be set by us, because the process is a child of ours."""


@cache
def find(name: str) -> Launcher:
    """Load a launcher by name."""
    return plugins.load(launchers, name, Launcher)


def host_name(text: str) -> str:
    """Return a name or address as it is; refuse what could be taken for an option.

    >>> host_name("node-1")
    'node-1'
    """
    if not _HOST.fullmatch(text):
        raise SpecError(
            f"{text!r} is no host: [user@]name or address, of letters, digits and . _ - : /"
        )
    return text
