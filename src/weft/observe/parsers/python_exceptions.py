"""Exceptions of Python programs that are the program's own: an index, a key, a type, a file.

What the libraries below raise (of a network, a GPU, a store) is read where each is read.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from weft.observe.facts.base import Fact, Moment
from weft.observe.facts.programs import ProgramRaised
from weft.observe.moments import moment
from weft.observe.parser import READ, Parser, Source
from weft.observe.parsers._values import integer

_BEGINS = re.compile(r"Traceback \(most recent call last\):\s*$")
_PLACE = re.compile(r"\s+File \"[^\"]{1,300}\", line \d+, in ")
_OWN = re.compile(
    r"(?:^|[\s\]:])(?:\w{1,40}\.){0,6}(?P<name>IndexError|KeyError|ValueError|TypeError|"
    r"AttributeError|ZeroDivisionError|AssertionError|NameError|UnboundLocalError|"
    r"FileNotFoundError|UnicodeDecodeError|ModuleNotFoundError|ImportError|"
    r"NotImplementedError|JSONDecodeError|RecursionError|(?:Cuda)?OutOfMemoryError)(?:: |\s*$)"
)
_OF_BELOW = re.compile(r"nccl|rccl|gloo|store|socket|ibv_|rendezvous", re.IGNORECASE)
_RANK = re.compile(r"\[?[Rr]ank ?(\d{1,6})\b")
_LONGEST = 200
"""Lines of a stack, at the most."""


@dataclass(slots=True)
class _Reader:
    """Waits for the end of a stack, which names the exception."""

    source: Source
    begun: int = 0
    told: Moment | None = None

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return what was raised, at the line that names it."""
        if _BEGINS.search(text):
            self.begun, self.told = number, moment(text)
            return READ
        if not self.begun or number - self.begun > _LONGEST:
            return None
        if _PLACE.match(text):
            return READ
        own = _OWN.search(text)
        if not own or _OF_BELOW.search(text):
            return None
        told, self.begun = moment(text) or self.told, 0
        rank = _RANK.match(text)
        return (
            ProgramRaised(
                name=own["name"], rank=integer(rank[1]) if rank else None, moment=told,
                host=self.source.host, evidence=self.source.evidence(text, number),
            ),
        )  # fmt: skip

    def end(self) -> Iterable[Fact]:
        """Keep nothing to the end."""
        return READ


python_exceptions = Parser(
    tool="Python",
    marks=("Traceback (most recent call last):",),
    reader=_Reader,
    rank=90,
)
