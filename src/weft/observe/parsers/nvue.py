"""NVUE's tables of a port's queues: ``nv show interface PORT counters qos``.

A row is of a switch priority, a traffic class or a priority group, as its heading says.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from weft.observe.facts.base import Fact
from weft.observe.facts.interfaces import Counter
from weft.observe.parser import READ, Parser, Source
from weft.observe.parsers._values import real

_PORT = re.compile(r"\binterface (?P<port>swp\d{1,3}(?:s\d)?)")
_HEAD = re.compile(
    r"\s*(?P<kind>switch-priority|traffic-class|priority-group)\s+(?P<rest>[rtwe].*)"
)
_TITLE = re.compile(
    r"(?:Ingress Buffer|Egress Queue|PFC|Ecn|ECN|Egress Port|Ingress Port|Adaptive Routing) "
    r"(?:Statistics|stats)\s*$|={5,}\s*$"
)
_RULE = re.compile(r"\s*-{5,}(?:\s+-{5,})+\s*$")
_ROW = re.compile(r"\s*(?P<place>\d)(?P<cells>\s+\S.*)")
_CELL = re.compile(r"\s+(\d[\d.,]{0,24})(?: (Bytes|[KMGTP]B)\b)?")
_SCALES = {"": 1, "Bytes": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "PB": 10**15}
_NAMES = {
    "switch-priority": {
        "rx-pause-frames": "rx_prio{0}_pause",
        "tx-pause-frames": "tx_prio{0}_pause",
        "rx-pause-duration": "rx_prio{0}_pause_duration",
        "tx-pause-duration": "tx_prio{0}_pause_duration",
    },
    "traffic-class": {
        "tx-frames": "uc{0}_packets",
        "tx-bytes": "uc{0}_bytes",
        "tx-uc-buffer-discards": "uc{0}_dropped_packets",
        "wred-discards": "uc{0}_wred_dropped_packets",
        "ecn-marked-frames": "uc{0}_ecn_marked_packets",
    },
    "priority-group": {
        "rx-frames": "pg{0}_packets",
        "rx-buffer-discards": "pg{0}_dropped_packets",
        "rx-shared-buffer-discards": "pg{0}_shared_dropped_packets",
    },
}


@dataclass(slots=True)
class _Reader:
    """Reads rows under the last heading."""

    source: Source
    kind: str = ""
    columns: list[str] = field(default_factory=list)

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return the counters of a row."""
        head = _HEAD.match(text)
        if head:
            self.kind, self.columns = head["kind"], head["rest"].split()
            return READ
        if _TITLE.match(text):
            return READ
        row = _ROW.match(text) if self.columns else None
        cells = _CELL.findall(row["cells"]) if row else []
        if not row or len(cells) != len(self.columns):
            return READ if self.columns and _RULE.match(text) else None
        port = _PORT.search(self.source.command)
        evidence = self.source.evidence(text, number)
        known = _NAMES[self.kind]
        return tuple(
            Counter(
                where=port["port"] if port else "",
                name=known[column].format(row["place"]),
                value=round((real(value) or 0.0) * _SCALES[scale]),
                on_switch=True,
                host=self.source.host,
                evidence=evidence,
            )
            for column, (value, scale) in zip(self.columns, cells, strict=True)
            if column in known
        )

    def end(self) -> Iterable[Fact]:
        """Keep nothing to the end."""
        return READ


nvue = Parser(
    tool="NVUE",
    marks=("switch-priority ", "traffic-class ", "priority-group ", "Statistics\n"),
    reader=_Reader,
    rank=46,
)
