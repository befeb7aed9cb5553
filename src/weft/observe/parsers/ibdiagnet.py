"""The summary of ``ibdiagnet``: warnings and errors of each stage."""

import re
from collections.abc import Sequence

from weft.observe.facts import FabricCheck, Fact
from weft.observe.parser import Parser
from weft.observe.parsers._values import integer
from weft.observe.patterns import Line, nothing, pattern, table


def _stage(found: re.Match[str], line: Line) -> Sequence[Fact]:
    return (
        FabricCheck(
            stage=found["stage"].strip(),
            warnings=integer(found["warnings"]),
            errors=integer(found["errors"]),
            text=(found["comment"] or "").strip(),
            evidence=line.evidence,
        ),
    )


def _complaint(found: re.Match[str], line: Line) -> Sequence[Fact]:
    error = found["level"] == "E"
    return (
        FabricCheck(
            stage="",
            warnings=None if error else 1,
            errors=1 if error else None,
            text=found["text"].strip(),
            evidence=line.evidence,
        ),
    )


ibdiagnet = Parser(
    tool="ibdiagnet",
    marks=("-I- ", "-W- ", "-E- ", "Warnings", "ibdiagnet"),
    reader=table(
        pattern(
            "",
            r"(?P<stage>[A-Z][\w /&-]{2,50}?)\s{2,}(?P<warnings>\d+)\s+(?P<errors>\d+)"
            r"(?:\s{2,}(?P<comment>.*))?$",
            _stage,
        ),
        pattern("-W- ", r"-(?P<level>W)- (?P<text>.*)", _complaint),
        pattern("-E- ", r"-(?P<level>E)- (?P<text>.*)", _complaint),
        pattern("-I- ", r"-I- ", nothing),
        pattern("Stage", r"Stage\s+Warnings\s+Errors", nothing),
    ),
    rank=60,
)
