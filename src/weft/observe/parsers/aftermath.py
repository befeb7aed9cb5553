"""What shows that trouble is over: work that goes on, and what somebody remarks on it.

Of each sort of work the last line is kept: what stands above it did not stop the program.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from weft.observe.facts.aftermath import Remark, WorkSeen
from weft.observe.facts.base import Evidence, Fact
from weft.observe.facts.programs import Message
from weft.observe.parser import READ, Parser, Source

_MOST_PEERS = 4096
BY_SIZE = "by size"
"""Who says in a ``Message`` that trouble comes with the number of hosts or bytes."""
_WORK = re.compile(
    r"(?P<connected>(?:client socket has connected|TCP client connected) to (?:host )?"
    r"(?P<peer>[^\s,]{1,120}))|"
    r"(?P<step>\b(?:step|iter(?:ation)?|epoch)\b[\s:=#|]{0,6}\d.{0,80}?\b(?:loss|tok(?:ens)?/s|"
    r"s/iter|s/it|it/s|img/s|samples/s|throughput|tflops))|"
    r"(?P<ping>ping data: rdma-ping)|"
    r"(?P<result>^\s*\d{1,10}\s+\d{1,8}(?:\s+\d+\.\d+){3}\s*$|^\d{1,10}\s{2,}\d+\.\d\d\s*$|"
    r"^\d+ (?:bytes|iters) in [\d.]+ seconds = )|"
    r"(?P<serving>device plugin endpoint started serving)|"
    r"(?P<passed>(?:^|[\s;:|])PASSED\s*$)|"
    r"(?P<ended>^\s*exit(?:[ _](?:code|status))?[=: ]{1,3}0\s*$|\bprocess exited, code=0\b)",
    re.IGNORECASE,
)
_BETWEEN_COLUMNS = "      "
"""What a row of results holds that somebody pasted without its heading."""
_BY_SIZE = re.compile(
    r"\b\d{1,5}(?: ?(?:-|to|and|,) ?\d{1,5}){0,4} (?:of (?:the |our )?\d{1,5} )?"
    r"(?:nodes?|hosts?|ranks?|processes)\b(?: \([^()]{1,40}\))?[ :,=]{1,3}"
    r"(?:(?:are|is|it|the|same|case|job|program|input|runs?|always|all) ){0,5}"
    r"(?:ok|fine|pass\w{0,3}|works?|good|stable|through|to the end|completes?|finishes)\b|"
    r"\b(?:up to|below|under|fewer than) \d{1,5} (?:nodes?|hosts?|ranks?|processes)\b.{0,60}"
    r"\b(?:ok|fine|pass(?:es)?|works?|runs?|finish(?:es)?|completes?|stable)\b|"
    r"\b(?:big|large|larger|long) (?:messages?|sizes?|jobs?|runs?)\b.{0,60}"
    r"\b(?:fail|die|abort|hang|crash)|"
    r"\b(?:fails?|dies|aborts?|crash(?:es)?)\b.{0,40}\b(?:under (?:heavy |high )?load|at scale|"
    r"(?:with|for) (?:large|big) messages|(?:above|beyond|from) \d{1,5} ?"
    r"(?:nodes|hosts|ranks|[KM]i?B)\b)",
    re.IGNORECASE,
)
"""Somebody's word that a program passes with few hosts or bytes, and not with more."""
_REMARK = re.compile(
    r"(?P<meant>\bon purpose\b|\bdeliberately\b|\bas planned\b|\bthat was me\b|"
    r"\bI (?:killed|pulled|stopped|unplugged|rebooted|pressed)\b|\bpatch day\b|"
    r"\bnever been cabled\b)|"
    r"(?P<over>\bRMA (?:is )?done\b|\bback in (?:production|service)\b)",
    re.IGNORECASE,
)


@dataclass(slots=True)
class _Aftermath:
    """Keeps the last line of each sort of work."""

    source: Source
    last: dict[tuple[str, str], Evidence] = field(default_factory=dict)

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        work = _WORK.search(text)
        if work:
            kind = work.lastgroup if work.lastgroup != "peer" else "connected"
            key = (kind or "", (work["peer"] or "").rstrip(".,"))
            if key in self.last or len(self.last) < _MOST_PEERS:
                self.last[key] = self.source.evidence(text, number)
            return READ
        said = _REMARK.search(text)
        if said:
            evidence = self.source.evidence(text, number)
            return (Remark(says=str(said.lastgroup), evidence=evidence),)
        if _BY_SIZE.search(text):
            evidence = self.source.evidence(text, number)
            return (Message(software=BY_SIZE, level="info", text=text.strip()[:300],
                            evidence=evidence),)  # fmt: skip
        return None

    def end(self) -> Iterable[Fact]:
        last, self.last = self.last, {}
        return [
            WorkSeen(kind=kind, peer=peer, evidence=evidence)
            for (kind, peer), evidence in last.items()
        ]


aftermath = Parser(
    tool="work that goes on",
    marks=(
        "connected to", "started serving", "#bytes", "_bw", "_lat", "init the socket",
        "BW ", "Gb/s", "GB/s", "MB/s", _BETWEEN_COLUMNS,
        "Latency", "latency", "Bandwidth", "seconds =", "step", "Step", "iter", "Iter", "epoch",
        "Epoch", "rdma-ping", "PASSED",
        "exit", "purpose", "deliberately", "planned", "That was me", "that was me",
        "I killed", "I pulled", "I stopped", "I unplugged", "I rebooted", "patch day",
        "been cabled", "RMA ", "ack in ", " nodes", " hosts", " ranks", " messages",
        "arge ", "under ", "at scale",
    ),
    reader=_Aftermath,
    rank=90,
    longest=512,
)  # fmt: skip
