"""What a way to a host is: a command that runs the script it is given on standard input."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from weft.errors import SpecError

SHELL: Final = ("sh", "-s", "--", "-")
"""Reads the script from standard input and writes the archive to standard output."""
_HOST = re.compile(r"(?:[A-Za-z0-9_][\w.-]{0,62}@)?[A-Za-z0-9\[][\w.:\[\]-]{0,252}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """How the script reaches a host; the words of the command go to no shell of ours."""

    title: str
    takes: str
    """What is named on the command line."""
    words: Callable[[str], tuple[str, ...]]


def host_name(text: str) -> str:
    """Return a name or address as it is.

    Raises:
        SpecError: it is none, or could be taken for an option.
    """
    if not _HOST.fullmatch(text):
        raise SpecError(
            f"{text!r} is no host: [user@]name or address, of letters, digits and . _ - :"
        )
    return text
