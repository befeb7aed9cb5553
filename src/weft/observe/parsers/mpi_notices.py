"""Notices of Open MPI that tell of nothing wrong, however long and loud they are.

A notice stands between two lines of dashes. Of adapters it warns where it has no settings of
its own for one, and where two ports have the usual prefix of their subnet, as both ports of
one fabric have.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from weft.observe.facts.base import Fact
from weft.observe.parser import READ, Parser, Source

_EDGE = re.compile(r"-{60,}\s*$")
_HARMLESS = re.compile(
    r"WARNING: No preset parameters were found for the device that Open MPI|"
    r"WARNING: There (?:are|is) more than one active ports? on host"
)
_VERBOSE = re.compile(
    r"\[[\w.-]{1,80}\](?:\[\[\d+,\d+\],\d+\])?\[btl_openib_ini\.c:\d+:\w+\] "
    r"(?:Querying INI files|Found corresponding INI values)"
)
_LAST = re.compile(r"\s*btl_openib_warn_\w+ to 0\.")
_OTHERS = re.compile(r"\b(?:NCCL|RCCL|UCX) |\b[Ee]rror\b|\bERROR\b|\b[Ff]ailed\b|Traceback ")
"""What other programs say, where the end of a notice was lost."""
_LONGEST = 20


@dataclass(slots=True)
class _Reader:
    """Passes over a notice to its end."""

    source: Source
    since: int = 0

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return nothing of a line that is understood."""
        if _VERBOSE.match(text):
            return READ
        if _HARMLESS.match(text):
            self.since = number
        within = self.since and number - self.since <= _LONGEST
        if not within or _OTHERS.search(text):
            self.since = 0
            return None
        if _EDGE.match(text) or _LAST.match(text):
            self.since = 0
        return READ

    def end(self) -> Iterable[Fact]:
        """Forget the notice."""
        self.since = 0
        return READ


mpi_notices = Parser(
    tool="notices of Open MPI",
    marks=("No preset parameters", "more than one active port", "btl_openib_ini"),
    reader=_Reader,
    rank=14,
)
