"""``setpci``: the control word of a bridge's access control (ACS), read as a number.

It stands alone, after the device that a loop prints, or as ``setpci -v`` writes it.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from weft.observe.facts.base import Fact
from weft.observe.facts.pci import PcieAccessControl
from weft.observe.parser import READ, Parser, Source

_ASKED = re.compile(
    r"\bsetpci\b.{0,120}\bECAP_?(?:ACS|000D)\+(?:0x)?0?6\.w(?![\w=])", re.IGNORECASE
)
"""The word at 6 of the capability is its control; a value given to it writes it."""
_ADDRESS = r"(?:[0-9a-f]{4,5}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]"
_SOUGHT = re.compile(rf"-s\s+(?P<bus>{_ADDRESS})")
_ANSWER = re.compile(
    rf"\s{{0,8}}(?:(?P<bus>{_ADDRESS})\b[^=]{{0,60}}?[ :=]\s{{0,4}})?"
    r"(?:0x)?(?P<word>[0-9a-f]{4})\s*$"
)
_SOURCE_VALIDATION = 1 << 0
_REQUEST_REDIRECT = 1 << 2
_COMPLETION_REDIRECT = 1 << 3
_UPSTREAM_FORWARDING = 1 << 4
_NOT_THERE = 0xFFFF
"""What a device answers that is gone, or has no such register."""


@dataclass(slots=True)
class _Reader:
    """Reads the answers below the command that asked for the control word."""

    source: Source

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return the access control that a word tells of."""
        answer = _ANSWER.match(text)
        if not answer or not _ASKED.search(self.source.command):
            return None
        word = int(answer["word"], 16)
        if word == _NOT_THERE:
            return READ
        sought = _SOUGHT.search(self.source.command)
        return (
            PcieAccessControl(
                device=answer["bus"] or (sought["bus"] if sought else ""),
                source_validation=bool(word & _SOURCE_VALIDATION),
                request_redirect=bool(word & _REQUEST_REDIRECT),
                completion_redirect=bool(word & _COMPLETION_REDIRECT),
                upstream_forwarding=bool(word & _UPSTREAM_FORWARDING),
                host=self.source.host,
                evidence=self.source.evidence(text, number),
            ),
        )

    def end(self) -> Iterable[Fact]:
        """Keep nothing to the end."""
        return READ


setpci = Parser(tool="setpci", marks=("setpci",), reader=_Reader, rank=31, longest=400)
