"""What a probe is: some commands that only read, and why they are worth running."""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

MOST_BYTES: Final = 8 << 20
"""Kept of the output of one command."""
LONGEST_NAME: Final = 60
_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9.+=@-]+")


class Scope(StrEnum):
    """On how many hosts a probe is worth running."""

    HOST = "every host"
    FABRIC = "one host for the whole fabric (weft collect --fabric)"


class Each(StrEnum):
    """What a command is repeated for: a pattern of the kernel's files.

    The pattern names a file that every such thing has; ``{}`` becomes the name two levels up
    (``/sys/class/net/NAME/device``).
    """

    ONCE = ""
    INTERFACE = "/sys/class/net/*/device"
    """A network interface with hardware behind it."""
    ADAPTER = "/sys/class/infiniband/*/node_guid"
    """An RDMA device."""


@dataclass(frozen=True, slots=True)
class Command:
    """One command, its words as they are run; ``{}`` stands for the thing it is repeated for.

    ``files`` are patterns that the shell expands behind the words. ``end`` keeps the end of a
    long output in place of its beginning. Nothing here is ever given to a shell unquoted but
    the patterns, which are constants of weft.
    """

    words: str
    each: Each = Each.ONCE
    files: tuple[str, ...] = ()
    end: bool = False
    name: str = ""
    """Of the file its output goes to; empty: made of the words."""

    @property
    def file(self) -> str:
        """Return the name of the file its output goes to, as support bundles spell it.

        >>> Command("show pfc counters").file, Command("cat /proc/self/limits").file
        ('show_pfc_counters', 'cat_proc_self_limits')
        """
        named = self.name or self.words.replace("{}", "")
        return _NOT_IN_A_NAME.sub("_", named)[:LONGEST_NAME].strip("_")


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """Some commands about one matter.

    ``counters`` are run twice, so that rates exist; the others once.
    """

    title: str
    why: str
    scope: Scope = Scope.HOST
    commands: tuple[Command, ...] = ()
    counters: tuple[Command, ...] = ()
