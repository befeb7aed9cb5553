"""The report of NCCL's RAS, text or JSON: how many ranks there are, and how they stand."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from weft.observe.facts.base import Evidence, Fact, Process
from weft.observe.facts.communicators import CommunicatorHealth
from weft.observe.facts.programs import SoftwareVersion
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
    r".{0,200}?(?P<count>\d{1,7}) (?:job )?(?:ranks?|processes|process|GPUs?) (?:is |are )?"
    r"(?:missing|unreachable|(?:considered )?dead|did not respond)"
)
_NO_DATA = re.compile(
    r"\s{0,20}Missing communicator data from (?P<count>\d{1,7}) (?P<what>rank|job process)"
)
_PROCESS = re.compile(
    r"\s{1,20}(?:Process (?P<pid>\d{1,9}) on node (?P<host>[\w.:-]{1,120}) managing GPUs? "
    r"(?P<gpu>\d{1,4})|Rank (?P<rank>\d{1,7}) -- GPU (?P<gpu2>\d{1,4}) managed by process "
    r"(?P<pid2>\d{1,9}) on node (?P<host2>[\w.:-]{1,120})|"
    r"The missing ranks?: (?P<first>\d{1,7}))"
)
_SPREAD = re.compile(
    r"\s{0,20}(?P<count>\d{1,7}) ranks? (?:has|have) launched up to operation "
    r"(?P<operation>\d{1,18})"
)
_KIND = re.compile(
    r"(?:#\d{1,7}-\d{1,7} \(\w{1,40}\) )?(?P<kind>DEAD|INCOMPLETE|MISMATCH|TIMEOUT|ERROR)\s*$"
)
_VERSION = re.compile(r"(?P<software>NCCL|RCCL) version (?P<version>[\d.]{1,20}) compiled with")
_NOTE = re.compile(r"(?:CUDA|HIP) runtime version|\s{0,40}(?:Nodes|\(total\)|Group|Comms|#|per "
                   r"node|in group|per comm|Communicator ranks have|Encountered \d|"
                   r"The rank|={3,})")  # fmt: skip


@dataclass(slots=True)
class _Reader:
    """Reads the tables and the complaints below their titles."""

    source: Source
    section: str = ""
    kind: str = ""

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return how ranks stand by a line."""
        evidence = self.source.evidence(text, number)
        version = _VERSION.match(text)
        if version:
            return (
                SoftwareVersion(
                    software=version["software"], version=version["version"], evidence=evidence
                ),
            )
        title = _TITLE.match(text)
        if title and (title["name"] == "Job summary" or self.section or "Comm" in text):
            self.section, self.kind = title["name"], ""
            return READ
        kind = _KIND.match(text) if self.section else None
        if kind:
            self.kind = kind["kind"]
            return READ
        return self._within(text, evidence) if self.section or self.kind else None

    def end(self) -> Iterable[Fact]:
        """Keep nothing to the end."""
        return READ

    def _within(self, text: str, evidence: Evidence) -> Sequence[Fact] | None:
        summary = _SUMMARY.match(text)
        if summary:
            ranks, hosts = int(summary["gpus"]), int(summary["hosts"])
            return (CommunicatorHealth(ranks=ranks, hosts=hosts, evidence=evidence),)
        group = _GROUP.match(text)
        if group:
            status, errors = group["status"], group["errors"]
            return (CommunicatorHealth(status=status, errors=errors, evidence=evidence),)
        missing = _NO_DATA.match(text) or _MISSING.match(text)
        if missing:
            return (
                CommunicatorHealth(
                    missing_ranks=int(missing["count"]),
                    errors=self.kind or text.strip()[:200],
                    evidence=evidence,
                ),
            )
        named = _PROCESS.match(text) if self.section.startswith("Errors") else None
        if named:
            return (self._named(named, text, evidence),)
        spread = _SPREAD.match(text)
        if spread:
            return (
                CommunicatorHealth(status="MISMATCH", errors=text.strip(), evidence=evidence),
            )
        return READ if _NOTE.match(text) else None

    def _named(
        self, found: "re.Match[str]", text: str, evidence: Evidence
    ) -> CommunicatorHealth:
        rank = found["rank"] or found["first"]
        pid, gpu = found["pid"] or found["pid2"], found["gpu"] or found["gpu2"]
        dead = " dead" in text
        return CommunicatorHealth(
            missing_ranks=1,
            errors="DEAD" if dead else self.kind or "INCOMPLETE",
            process=Process(
                host=found["host"] or found["host2"] or "",
                pid=int(pid) if pid else None,
                gpu=int(gpu) if gpu else None,
                rank=int(rank) if rank else None,
            ),
            evidence=evidence,
        )


def _document(value: object, source: Source, number: int) -> Iterable[Fact] | None:
    """Read ``ncclras -f json``: communicators with their ranks, and the ranks that are gone."""
    if not isinstance(value, dict) or not isinstance(value.get("communicators"), list):
        return None
    version = str(value.get("nccl_version", ""))
    evidence = Evidence(source.file, number, f"RAS of NCCL {version}")
    facts: list[Fact] = []
    if version:
        facts.append(SoftwareVersion(software="NCCL", version=version, evidence=evidence))
    for one in value["communicators"]:
        if isinstance(one, dict):
            facts += _communicator(one, source, number)
    return facts


def _communicator(one: dict[str, Any], source: Source, number: int) -> list[Fact]:
    name = str(one.get("hash", ""))
    ranks = [rank for rank in _list(one, "ranks") if isinstance(rank, dict)]
    gone = [rank for rank in _list(one, "missing_ranks") if isinstance(rank, dict)]
    hosts = {str(rank.get("host", "")) for rank in (*ranks, *gone)} - {""}
    missing = _whole(one.get("missing_ranks_count"))
    apart = _spread(ranks)
    size = one.get("size")
    told = f"communicator {name}: size {size}, missing {missing or 0}, {apart or 'even'}"
    facts: list[Fact] = [
        CommunicatorHealth(
            ranks=_whole(one.get("size")),
            hosts=len(hosts) or None,
            missing_ranks=missing or None,
            status="MISMATCH" if apart else "",
            errors="INCOMPLETE" if missing else "OK",
            evidence=Evidence(source.file, number, told),
        )
    ]
    for rank in gone:
        status = rank.get("status")
        dead = isinstance(status, dict) and bool(status.get("considered_dead"))
        words = f"communicator {name}: rank {rank.get('rank')} missing on {rank.get('host')}"
        facts.append(
            CommunicatorHealth(
                missing_ranks=1,
                errors="DEAD" if dead else "INCOMPLETE",
                process=Process(
                    host=str(rank.get("host", "")),
                    pid=_whole(rank.get("pid")),
                    gpu=_whole(rank.get("cuda_dev")),
                    rank=_whole(rank.get("rank")),
                ),
                evidence=Evidence(source.file, number, words),
            )
        )
    return facts


def _spread(ranks: list[dict[str, Any]]) -> str:
    """Return by how much the ranks' counts of an operation differ, where they do."""
    counts: dict[str, list[int]] = {}
    for rank in ranks:
        told = rank.get("collective_counts")
        for operation, count in told.items() if isinstance(told, dict) else ():
            whole = _whole(count)
            if whole is not None:
                counts.setdefault(str(operation), []).append(whole)
    apart = [f"{name} {min(all_)} to {max(all_)}" for name, all_ in counts.items()
             if min(all_) != max(all_)]  # fmt: skip
    return ", ".join(apart)[:200]


def _list(value: dict[str, Any], key: str) -> list[Any]:
    found = value.get(key)
    return found if isinstance(found, list) else []


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


nccl_ras = Parser(
    tool="NCCL RAS",
    marks=("Job summary", "RUNNING", "Errors", "Warnings", "compiled with", "Communicators"),
    reader=_Reader,
    document=_document,
    rank=26,
)
