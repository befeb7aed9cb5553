"""The report of NCCL's RAS: how many ranks there are, and how communicators stand."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from weft.observe.facts import CommunicatorHealth, Fact
from weft.observe.parser import READ, Parser, Source

_TITLE = re.compile(r"(?P<name>Job summary|Communicators?\b.*|Errors|Warnings)\s*$")
_SUMMARY = re.compile(
    r"\s{0,20}(?P<hosts>\d{1,7})\s{1,30}(?P<each>\d{1,6}(?:-\d{1,6})?)\s{1,30}"
    r"\d{1,6}(?:-\d{1,6})?\s{1,30}(?P<processes>\d{1,9})\s{1,30}(?P<gpus>\d{1,9})\s*$"
)
_GROUP = re.compile(
    r"\s{0,20}\d{1,6}(?:\s{1,30}[\d-]{1,12}){4,6}\s{1,30}(?P<status>[A-Z]\w+)\s{1,30}"
    r"(?P<errors>OK|[A-Z]\w+)\s*$"
)
_MISSING = re.compile(
    r".{0,200}?(?P<count>\d{1,7}) (?:ranks?|processes|process|GPUs?) (?:is |are )?"
    r"(?:missing|unreachable|dead|did not respond)"
)
_HEADING = re.compile(
    r"\s{0,40}(?:Nodes|\(total\)|Group|Comms|#|per node|in group|per comm|[A-Z]{2,20}$)"
)


@dataclass(slots=True)
class _Reader:
    """Reads the tables below their titles."""

    source: Source
    section: str = ""

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return how ranks stand by a line."""
        title = _TITLE.match(text)
        if title and (title["name"] == "Job summary" or self.section):
            self.section = title["name"]
            return READ
        if not self.section:
            return None
        evidence = self.source.evidence(text, number)
        summary = _SUMMARY.match(text)
        if summary:
            ranks, hosts = int(summary["gpus"]), int(summary["hosts"])
            return (CommunicatorHealth(ranks=ranks, hosts=hosts, evidence=evidence),)
        group = _GROUP.match(text)
        if group:
            status, errors = group["status"], group["errors"]
            return (CommunicatorHealth(status=status, errors=errors, evidence=evidence),)
        missing = _MISSING.match(text)
        if missing:
            count = int(missing["count"])
            return (
                CommunicatorHealth(
                    missing_ranks=count, errors=text.strip()[:200], evidence=evidence
                ),
            )
        return READ if _HEADING.match(text) else None

    def end(self) -> Iterable[Fact]:
        """Keep nothing to the end."""
        return READ


nccl_ras = Parser(
    tool="NCCL RAS",
    marks=("Job summary", "RUNNING", "Errors", "Warnings"),
    reader=_Reader,
    rank=26,
)
