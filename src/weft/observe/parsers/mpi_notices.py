"""Notices of Open MPI: those that tell of nothing wrong, and what others tell over lines.

A notice stands between two lines of dashes. Of adapters it warns where it has no settings of
its own for one, and where two ports have the usual prefix of their subnet, as both ports of
one fabric have. What a call failed with stands lines below some notices.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from weft.observe.facts.base import Fact, Process
from weft.observe.facts.programs import SharedMemoryFailed
from weft.observe.facts.verbs import CallFailed
from weft.observe.parser import READ, Parser, Source
from weft.observe.parsers._values import errno_of, integer

_EDGE = re.compile(r"-{60,}\s*$")
_HARMLESS = re.compile(
    r"WARNING: No preset parameters were found for the device that Open MPI|"
    r"WARNING: There (?:are|is) more than one active ports? on host"
)
_VERBOSE = re.compile(
    r"\[[\w.-]{1,80}\](?:\[\[\d+,\d+\],\d+\])?\[btl_openib_ini\.c:\d+:\w+\] "
    r"(?:Querying INI files|Found corresponding INI values)"
)
_SHARED = re.compile(r"A system call failed during shared memory initialization")
_BUFFER = re.compile(r"Open MPI failed to register your buffer")
_ENDED_WITH = re.compile(
    r"\s*Error: +(?P<error>[A-Z][\w ]{3,60}?)? *\((?:errno )?(?P<errno>\d{1,20})\)"
)
_LAST = re.compile(r"\s*btl_openib_warn_\w+ to 0\.")
_OTHERS = re.compile(r"\b(?:NCCL|RCCL|UCX) |\b[Ee]rror\b|\bERROR\b|\b[Ff]ailed\b|Traceback ")
"""What other programs say, where the end of a notice was lost."""
_LONGEST = 20


@dataclass(slots=True)
class _Reader:
    """Passes over a notice to its end, and waits for what a call failed with."""

    source: Source
    since: int = 0
    called: str = ""
    called_at: int = 0

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return nothing of a line that is understood."""
        if _VERBOSE.match(text):
            return READ
        if _SHARED.search(text) or _BUFFER.search(text):
            self.called = "share" if _SHARED.search(text) else "fi_reg_mr"
            self.called_at = number
            return READ
        ended = _ENDED_WITH.match(text) if self.called else None
        if ended and number - self.called_at <= _LONGEST:
            return (self._ended(ended["error"] or "", integer(ended["errno"]), text, number),)
        if _HARMLESS.match(text):
            self.since = number
        within = self.since and number - self.since <= _LONGEST
        if not within or _OTHERS.search(text):
            self.since = 0
            return None
        if _EDGE.match(text) or _LAST.match(text):
            self.since = 0
        return READ

    def _ended(
        self, error: str, code: int | None, text: str, number: int
    ) -> SharedMemoryFailed | CallFailed:
        """State what the call of the notice failed with."""
        call, self.called = self.called, ""
        process, evidence = Process(host=self.source.host), self.source.evidence(text, number)
        if call == "share":
            return SharedMemoryFailed(
                errno=code, error=error, process=process, evidence=evidence
            )
        return CallFailed(
            call=call, errno=errno_of(error), error=error, library="MPI", process=process,
            evidence=evidence,
        )  # fmt: skip

    def end(self) -> Iterable[Fact]:
        """Forget the notice."""
        self.since, self.called = 0, ""
        return READ


mpi_notices = Parser(
    tool="notices of Open MPI",
    marks=(
        "No preset parameters",
        "more than one active port",
        "btl_openib_ini",
        "shared memory initialization",
        "failed to register your buffer",
    ),
    reader=_Reader,
    rank=14,
)
