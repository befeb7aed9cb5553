"""What a way to a host is: a command that runs the script it is given on standard input."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from weft.collect.held import READS

SHELL: Final = (*READS, "-", "held")
"""Reads the script from standard input and writes the archive to standard output.

It ends with what it started when standard input ends.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """How the script reaches a host; the words of the command go to no shell of ours."""

    title: str
    takes: str
    """What is named on the command line."""
    words: Callable[[str], tuple[str, ...]]
