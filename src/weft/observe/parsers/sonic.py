"""Counters of SONiC switches: ports, PFC, queues, priority groups, watermarks, watchdog.

The heading tells what the columns are. People grep it away: the command or the shape of a
row tells then, and a row of plain numbers is a drop or watermark row by the last command.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from weft.observe.facts.base import Evidence, Fact
from weft.observe.facts.interfaces import Counter, Interface
from weft.observe.facts.service_quality import PauseWatchdog
from weft.observe.parser import READ, Parser, Source
from weft.observe.parsers._values import count, integer

_PORT = r"(?:Ethernet|PortChannel|Eth|CPU)[\d/]*"
_RULE = re.compile(r"\s*-{2,}(?:\s+-{2,})+\s*$")
_NAMES = re.compile(r"\s*(?:IFACE|Port|QUEUE|TYPE|Interface)\b.*")
_ROW = re.compile(rf"\s*(?P<port>{_PORT})\s+(?P<rest>\S.*?)\s*$")
_QUEUE = re.compile(
    rf"\s*(?P<port>{_PORT}|Et\d[\d/]*)\s+(?P<queue>(?:UC|MC|ALL|VOQ)\d+)\s+(?P<numbers>[\d,N/A]+"
    rf"(?:\s+[\d,N/A]+){{3}})"
)
_WATCHDOG = re.compile(
    rf"\s*(?P<port>{_PORT}):(?P<queue>\d+)\s+(?P<status>operational|stormed|N/A)\s+"
    r"(?P<found>\d+)/(?P<restored>\d+)"
    r"\s+(?P<rest>.*)"
)
_DIRECTION = re.compile(r"\s*Flow Control frames (?P<way>received|transmitted)")
_TITLE = re.compile(
    r"\s*(?:Ingress|Egress) (?:shared|headroom|PG|queue)?.*(?:per PG|per unicast|per "
    r"multicast|PG|queue|pool).*:?|Last cached time"
)
_SPLIT = re.compile(r"\s{2,}|(?<=\d) (?=\d)|\t")
_PORT_COLUMNS = {
    "RX_OK": "rx_packets",
    "RX_ERR": "rx_errors",
    "RX_DRP": "rx_dropped",
    "RX_OVR": "rx_overruns",
    "TX_OK": "tx_packets",
    "TX_ERR": "tx_errors",
    "TX_DRP": "tx_dropped",
    "TX_OVR": "tx_overruns",
}
_OTHER_COLUMNS = _PORT_COLUMNS | {
    "RX_DROPS": "rx_dropped",
    "TX_DROPS": "tx_dropped",
    "FEC_CORR": "fec_corrected",
    "FEC_UNCORR": "fec_uncorrected",
}
"""Of the tables that begin with the state: errors, drop counters, error correction."""
_PFC = re.compile(r"PFC(?P<prio>\d)$")
_WAYS = {"received": "rx", "transmitted": "tx"}
_PLAIN = {
    "priority-group drop": "pg{0}_dropped_packets",
    "priority-group watermark shared": "pg{0}_shared_watermark_bytes",
    "priority-group watermark headroom": "pg{0}_headroom_watermark_bytes",
    "queue watermark unicast": "uc{0}_watermark_bytes",
    "queue watermark multicast": "mc{0}_watermark_bytes",
}


@dataclass(slots=True)
class _Reader:
    """Reads rows under the last heading."""

    source: Source
    columns: list[str] = field(default_factory=list)
    way: str = ""
    title: str = ""
    plain: int = 0
    command: str = ""

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return the facts of a line."""
        self._follow()
        evidence = self.source.evidence(text, number)
        watchdog = _WATCHDOG.match(text)
        if watchdog:
            return (self._watchdog(watchdog, evidence),)
        queue = _QUEUE.match(text)
        if queue:
            return self._queue(queue, evidence)
        if _RULE.match(text) or self._titled(text) or self._heading(text):
            return READ
        row = _ROW.match(text)
        return self._row(row, evidence) if row else None

    def end(self) -> Iterable[Fact]:
        """Keep nothing to the end."""
        return READ

    def _follow(self) -> None:
        """Forget the heading when another command was typed."""
        if self.source.command != self.command:
            self.command, self.columns, self.plain, self.title = self.source.command, [], 0, ""

    def _titled(self, text: str) -> bool:
        """Note a direction or title that stands above a heading."""
        way = _DIRECTION.match(text)
        if way:
            self.way = _WAYS[way["way"]]
            return True
        if not _TITLE.match(text):
            return False
        self.title, self.columns = text.strip().lower(), []
        return True

    def _heading(self, text: str) -> bool:
        words = text.split()
        if not words or words[0] not in {"IFACE", "Port", "QUEUE", "Interface"}:
            return False
        known = any(
            w in _OTHER_COLUMNS or _PFC.match(w) or re.match(r"(?:PG|UC|MC|ALL)\d+$", w)
            for w in words
        )
        known = known or {"STATUS", "TxQ", "Pkts/Bytes"} & set(words) != set()
        if not known:
            return False
        self.columns = words[1:]
        if words[0] == "Port" and words[1] in {"Rx", "Tx"}:
            self.way, self.columns = words[1].lower(), words[2:]
        return True

    def _row(self, row: "re.Match[str]", evidence: Evidence) -> Sequence[Fact] | None:
        cells = [cell for cell in _SPLIT.split(row["rest"]) if cell]
        if not self.columns:
            return self._bare(row["port"], row["rest"].split(), evidence)
        if "RX_OK" in self.columns:
            return self._port(row["port"], cells, evidence)
        if self.columns[0] == "STATE" and set(self.columns) & set(_OTHER_COLUMNS):
            return self._stated(row["port"], row["rest"].split(), evidence)
        values = row["rest"].split()
        if len(values) != len(self.columns):
            return None
        pairs = [(self._named(c), count(v)) for c, v in zip(self.columns, values, strict=True)]
        return self._counters(row["port"], pairs, evidence)

    def _named(self, column: str) -> str:
        pfc = _PFC.match(column)
        if pfc:
            return f"{self.way or 'rx'}_prio{pfc['prio']}_pause"
        what = (
            "dropped_packets" if "drop" in f"{self.title} {self.command}" else "watermark_bytes"
        )
        return f"{column.lower()}_{what}"

    def _port(self, port: str, cells: list[str], evidence: Evidence) -> Sequence[Fact]:
        pairs = zip(self.columns, cells, strict=False)
        values = [(_PORT_COLUMNS[c], count(v)) for c, v in pairs if c in _PORT_COLUMNS]
        up = {"U": True, "D": False}.get(cells[0] if cells else "")
        interface = Interface(interface=port, up=up, host=self.source.host, evidence=evidence)
        return (interface, *self._counters(port, values, evidence))

    def _stated(self, port: str, cells: list[str], evidence: Evidence) -> Sequence[Fact]:
        """Read a row that begins with the state of the port: errors, drops, correction."""
        pairs = zip(self.columns, cells, strict=False)
        values = [(_OTHER_COLUMNS[c], count(v)) for c, v in pairs if c in _OTHER_COLUMNS]
        return self._counters(port, values, evidence)

    def _bare(self, port: str, values: list[str], evidence: Evidence) -> Sequence[Fact] | None:
        """Read a row whose heading was cut away, by the commands that were typed."""
        if len(values) < 8 or any(integer(v) is None for v in values):  # noqa: PLR2004 - priorities
            return None
        typed = [name for name in _PLAIN if name in self.source.command]
        name = _PLAIN[typed[min(self.plain, len(typed) - 1)]] if typed else "column{0}"
        self.plain += 1
        pairs = [(name.format(place), count(v)) for place, v in enumerate(values)]
        return self._counters(port, pairs, evidence)

    def _counters(
        self, port: str, pairs: Iterable[tuple[str, int | None]], evidence: Evidence
    ) -> Sequence[Fact]:
        return tuple(
            Counter(
                where=port,
                name=name,
                value=value,
                on_switch=True,
                host=self.source.host,
                evidence=evidence,
            )
            for name, value in pairs
            if value is not None
        )

    def _queue(self, found: "re.Match[str]", evidence: Evidence) -> Sequence[Fact]:
        names = ("packets", "bytes", "dropped_packets", "dropped_bytes")
        values = [count(one) for one in found["numbers"].split()]
        queue = found["queue"].lower()
        pairs = [(f"{queue}_{n}", v) for n, v in zip(names, values, strict=True)]
        return self._counters(found["port"], pairs, evidence)

    def _watchdog(self, found: "re.Match[str]", evidence: Evidence) -> PauseWatchdog:
        dropped = [
            integer(one.partition("/")[2]) or 0 for one in found["rest"].split() if "/" in one
        ]
        return PauseWatchdog(
            port=found["port"],
            queue=int(found["queue"]),
            status=found["status"],
            storms_detected=int(found["found"]),
            storms_restored=int(found["restored"]),
            dropped_packets=sum(dropped[:2]),
            host=self.source.host,
            evidence=evidence,
        )


sonic = Parser(
    tool="SONiC",
    marks=(
        "Ethernet",
        "IFACE",
        "Flow Control frames",
        "PFC0",
        "PortChannel",
        "per unicast",
        "stormed",
        "TxQ ",
    ),
    reader=_Reader,
    rank=37,
)
