"""Watches that run on every node: gpud, NVSentinel, and what Slurm says of a node's GPUs."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from weft.observe.facts.base import Fact
from weft.observe.moments import moment
from weft.observe.parser import READ, Parser, Source
from weft.observe.parsers._watches import Alarm, stated

_WELL = re.compile(
    r"no (?:\w+ ){1,3}issue|issue found$|skipped evaluation|is less than threshold|"
    r"nothing to do|skipping fabric manager|successfully loaded peermem"
)


@dataclass(slots=True)
class _Reader:
    """Reads sentences that complain of a node, and leaves all others alone."""

    source: Source

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return the facts of a line."""
        said = stated(
            Alarm(
                text=text, host=self.source.host, moment=moment(text),
                evidence=self.source.evidence(text, number),
            )
        )  # fmt: skip
        return said or (READ if _WELL.search(text) else None)

    def end(self) -> Iterable[Fact]:
        """Keep nothing to the end."""
        return READ


node_watch = Parser(
    tool="node watches",
    marks=(
        "down since",
        "ACTIVE<>DOWN",
        "down too long",
        "port(s) are active",
        "persistent D-state",
        "LinkUp",
        "state DOWN",
        "is DOWN",
        " down",
        "nactive",
        "ot active",
        " ACTIVE",
        "changing its up",
        "count mismatch",
        "lower than configured",
        "fabric manager",
        "ACS is enabled",
        "row remapping",
        "XID ",
        "Xid ",
        "nvlink",
        "inactive NVLink(s)",
        "NVLink errors detected",
        "NVLink P2P",
        "exceeding the threshold",
        "slowdown events",
        "ErrorCode:",
        "DCGM_FR_",
        " issue",
        "skipped evaluation",
        "skipping fabric",
        "peermem module",
    ),
    reader=_Reader,
    rank=38,
    longest=2048,
)
