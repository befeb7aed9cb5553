"""``arping``: which hardware addresses answer for an address (iputils', and Habets')."""

import re
from collections.abc import Sequence

from weft.observe.facts.base import Fact
from weft.observe.facts.interfaces import AddressAnswered
from weft.observe.parser import Parser
from weft.observe.patterns import Line, nothing, pattern, table

_MAC = r"(?P<mac>[0-9A-Fa-f]{2}(?::[0-9A-Fa-f]{2}){5})"


def _answered(found: re.Match[str], line: Line) -> Sequence[Fact]:
    return (
        AddressAnswered(
            address=found["address"], hardware_address=found["mac"].lower(), host=line.host,
            evidence=line.evidence,
        ),
    )  # fmt: skip


arping = Parser(
    tool="arping",
    marks=("ARPING ", "cast reply from "),
    reader=table(
        pattern("cast reply from ", rf"cast reply from (?P<address>[\d.]{{7,15}}) \[{_MAC}\]",
                _answered),
        pattern("bytes from ", rf"bytes from {_MAC} \((?P<address>[\d.]{{7,15}})\): index=",
                _answered),
        pattern("ARPING ", r"ARPING [\d.]{7,15}", nothing),
        pattern("Sent ", r"Sent \d+ probes?", nothing),
        pattern("Received ", r"Received \d+ response", nothing),
    ),
)  # fmt: skip
