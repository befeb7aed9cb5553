"""``ibdiagnet``: the summary of its stages, its complaints, and the counters it lists.

Version 1 names a port as ``lid=0x7 guid=0x.. dev=47396 Port=7``, version 2 by the description
of its node; the counters of the port follow, one a line.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from weft.observe.facts.base import Evidence, Fact
from weft.observe.facts.interfaces import Counter
from weft.observe.facts.subnet import FabricCheck
from weft.observe.parser import READ, Parser, Source
from weft.observe.parsers._values import integer

_STAGE = re.compile(
    r"(?:-I- )?(?P<stage>[A-Z][\w /&-]{2,50}?)\s{2,30}(?P<warnings>\d{1,9})\s{1,30}"
    r"(?P<errors>\d{1,9})(?:\s{2,30}(?P<comment>\S.{0,200}))?\s*$"
)
_COMPLAINT = re.compile(r"-(?P<level>[WE])- (?P<text>\S.*)")
_NOTE = re.compile(r"-I- ")
_HEAD = re.compile(r"(?:-I- )?Stage\s+Warnings\s+Errors|\s*Performance Monitor counter\s*:")
_VALUE = re.compile(
    r"\s{1,30}(?P<name>[a-z][\w]{3,60}?)\s*[:=]\s*(?P<value>0x[0-9a-fA-F]{1,16}|\d{1,20})\b"
)
_PORT = re.compile(r"\b[Pp]ort=(?P<port>\d{1,4})|/P(?P<slash>\d{1,4})\b")
_RISING = re.compile(
    r"(?P<name>[Ss]ymbol[ _]error(?:[ _]counter)?|[Ll]ink[ _]down(?:ed)?(?:[ _]counter)?|"
    r"[Ll]ink[ _]error[ _]recovery(?:[ _]counter)?|[Pp]ort[ _]rcv[ _]errors)\b.{0,40}?"
    r"increased by ?(?P<value>\d{1,20})"
)
_NODE = re.compile(
    r"Port Name=(?P<name>[^\s,]+)|(?P<described>\S{1,80})/P\d{1,4}\b|"
    r"guid=(?P<guid>0x[0-9a-fA-F]+)"
)
_SAID = re.compile(
    r"(?P<text>\"?\w+_counter\"? increased during the run.{0,120}|Cable (?:High|Low) "
    r"(?:Temperature|Voltage|\wX Power|\wX Bias)\w* .{0,40}(?:detected|reported).{0,80})"
)
"""Complaints that a report quotes without their mark."""
_SPELT = {
    "symbol_error_counter": "symbol_error",
    "link_down_counter": "link_downed",
    "link_downed_counter": "link_downed",
    "link_error_recovery_counter": "link_error_recovery",
    "port_rcv_errors": "port_rcv_errors",
    "port_xmit_discard": "port_xmit_discards",
    "port_xmit_discards": "port_xmit_discards",
}


def _complained(complaint: re.Match[str], evidence: Evidence) -> FabricCheck:
    error = complaint["level"] == "E"
    return FabricCheck(
        stage="",
        warnings=None if error else 1,
        errors=1 if error else None,
        text=complaint["text"].strip()[:300],
        evidence=evidence,
    )


@dataclass(slots=True)
class _Reader:
    """Remembers the port whose counters are listed."""

    source: Source
    where: str = ""
    port: int | None = None

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return the facts of a line."""
        evidence = self.source.evidence(text, number)
        stage = _STAGE.match(text)
        if stage:
            return (
                FabricCheck(
                    stage=stage["stage"].strip(),
                    warnings=integer(stage["warnings"]),
                    errors=integer(stage["errors"]),
                    text=(stage["comment"] or "").strip(),
                    evidence=evidence,
                ),
            )
        rising = _RISING.search(text)
        if rising:
            self._remember(text)
            name = rising["name"].strip().lower().replace(" ", "_")
            name = _SPELT.get(name, _SPELT.get(f"{name}_counter", name))
            return (self._counter(name, rising["value"], evidence),)
        complaint = _COMPLAINT.match(text)
        if complaint:
            self._remember(complaint["text"])
            return (_complained(complaint, evidence),)
        said = _SAID.search(text)
        if said:
            return (
                FabricCheck(stage="", errors=1, text=said["text"].strip(), evidence=evidence),
            )
        value = _VALUE.match(text) if self.where else None
        if value:
            name = _SPELT.get(value["name"], value["name"])
            return (self._counter(name, value["value"], evidence),)
        return READ if _NOTE.match(text) or _HEAD.match(text) else None

    def end(self) -> Iterable[Fact]:
        """Keep nothing to the end."""
        return READ

    def _counter(self, name: str, value: str, evidence: Evidence) -> Counter:
        return Counter(
            where=self.where or "a port",
            port=self.port,
            name=name,
            value=integer(value) or 0,
            evidence=evidence,
        )

    def _remember(self, text: str) -> None:
        port, node = _PORT.search(text), _NODE.search(text)
        found = node["name"] or node["described"] or node["guid"] if node else ""
        self.where = found if port else ""
        self.port = int(port["port"] or port["slash"]) if port else None


ibdiagnet = Parser(
    tool="ibdiagnet",
    marks=(
        "-I- ",
        "-W- ",
        "-E- ",
        "Warnings",
        "ibdiagnet",
        "increased during the run",
        "Cable High ",
        "Cable Low ",
    ),
    reader=_Reader,
    rank=60,
)
