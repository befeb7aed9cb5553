"""What a probe is: some commands that only read, and why they are worth running."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from weft.records import table

MOST_BYTES: Final = 8 << 20
"""Kept of the output of one command."""
LONGEST_NAME: Final = 60
INTERFACES: Final = "/sys/class/net/*/device"
"""A file of every network interface with hardware behind it, whose name is one level up."""
_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9.+=@-]+")


@dataclass(frozen=True, slots=True)
class Command:
    """One command, its words as they are run; ``{}`` stands for a network interface.

    ``files`` are patterns that the shell expands behind the words. ``end`` keeps the end of a
    long output in place of its beginning. Nothing here is ever given to a shell unquoted but
    the patterns, which are constants of weft.
    """

    words: str
    files: tuple[str, ...] = ()
    end: bool = False
    name: str = ""
    """Of the file its output goes to; empty: made of the words."""

    @property
    def is_repeated(self) -> bool:
        """Return whether it is run for each network interface."""
        return "{}" in self.words

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
    fabric: bool = False
    """Whether it is worth running on one host for the whole fabric, and not on every host."""
    commands: tuple[Command, ...] = ()
    counters: tuple[Command, ...] = ()


@cache
def all_probes() -> tuple[Probe, ...]:
    """Return every probe of ``probes.toml``."""
    return tuple(
        Probe(**{**row, **{key: _commands(row, key) for key in ("commands", "counters")}})
        for row in table("weft.collect", "probes").values()
    )


def _commands(row: Mapping[str, Any], key: str) -> tuple[Command, ...]:
    given = ({"words": c} if isinstance(c, str) else c for c in row.get(key, ()))
    return tuple(Command(**{**c, "files": tuple(c.get("files", ()))}) for c in given)
