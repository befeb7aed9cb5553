"""Junos: ``show interfaces`` (extensive, queue, terse) of one port after another."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from weft.observe.facts.base import Evidence, Fact
from weft.observe.facts.interfaces import Counter, Interface
from weft.observe.parser import READ, Parser, Source
from weft.observe.parsers._values import integer

_NAME = r"(?:et|xe|ge|mge)-\d{1,2}/\d{1,2}/\d{1,3}(?::\d)?"
_OPENS = re.compile(
    rf"\s*Physical interface: (?P<port>{_NAME}|ae\d{{1,4}})(?:\s*,)? (?P<admin>\w+)"
    r"(?:[\w ]*)?, Physical link is (?P<link>Up|Down)"
)
_MTU = re.compile(r".{0,80}?\bMTU: (?P<mtu>\d{3,5})\b")
_PAIR = re.compile(r"(?P<name>[A-Z][A-Za-z0-9 /-]{2,30}): (?P<value>\d{1,20})(?=,|\s*$)")
_NAMED = {
    ("input", "Errors"): "rx_errors",
    ("input", "Drops"): "in_drops",
    ("input", "Framing errors"): "rx_crc_errors",
    ("input", "Resource errors"): "in_discards",
    ("output", "Drops"): "out_drops",
    ("output", "Errors"): "tx_errors",
    ("output", "Carrier transitions"): "carrier_changes",
}
_TWO = re.compile(
    r"\s*(?P<name>[A-Z][A-Za-z0-9 /-]{2,40}?)\s{2,}(?P<rx>\d{1,20})(?:\s+(?P<tx>\d{1,20}))?\s*$"
)
_ROWS = {
    "CRC/Align errors": ("rx_crc_errors", ""),
    "MAC pause frames": ("rx_pause", "tx_pause"),
    "FEC Uncorrected Errors": ("fec_uncorrected", ""),
    "FEC Corrected Errors": ("fec_corrected", ""),
}
_PRIORITY = re.compile(
    r"\s*Priority\s*:?\s*(?P<prio>[0-7])\s+(?P<rx>\d{1,20})\s+(?P<tx>\d{1,20})\s*$"
)
_QUEUE = re.compile(r"\s*Queue: (?P<queue>\d{1,2}), Forwarding classes: (?P<class>\S+)")
_DROPS = re.compile(
    r"\s*(?P<name>Tail-dropped packets|RL-dropped packets|RED-dropped packets|"
    r"Total-dropped packets|ECN-CE packets)\s*:\s*(?P<value>\d{1,20})\b"
)
_TERSE = re.compile(r"\s*Interface\s+Admin\s+Link\s+Proto")
_ROW = re.compile(
    rf"\s*(?P<port>{_NAME})(?P<unit>\.\d{{1,5}})?\s+(?P<admin>up|down)\s+(?P<link>up|down)\b"
    r"(?P<rest>.*)"
)
_MORE = re.compile(
    r"\s+(?:Input errors|Output errors|Egress queues|Queue counters|MAC (?:stat|Prio)|"
    r"Interface index|Link-level type|Device flags|Interface flags|Current address|Last "
    r"flapped|Active |Input rate|Output rate|PCS statistics|Ethernet FEC|Traffic stat|Queued:|"
    r"Transmitted:|Packets|Bytes|Total|Filter statistics|Bit errors|Errored blocks|\d{1,2} )"
)
_DROPPED = {"Tail": "tail", "RL": "rl", "RED": "red", "Total": "total"}


@dataclass(slots=True)
class _Reader:
    """Reads the lines of the port that was named last."""

    source: Source
    port: str = ""
    way: str = ""
    queue: str = ""
    terse: bool = False
    units: dict[str, bool] = field(default_factory=dict)
    ports: dict[str, tuple[bool, bool, Evidence]] = field(default_factory=dict)

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return the facts of a line."""
        evidence = self.source.evidence(text, number)
        opens = _OPENS.match(text)
        if opens:
            self.port, self.queue, self.way = opens["port"], "", ""
            return (self._state(opens["port"], opens["admin"] == "Enabled",
                                opens["link"] == "Up", evidence),)  # fmt: skip
        if _TERSE.match(text):
            self.terse = True
            return READ
        row = _ROW.match(text) if self.terse else None
        if row:
            return self._row(row, evidence)
        return self._inside(text, evidence) if self.port else None

    def end(self) -> Iterable[Fact]:
        """State the ports of a short table: those with an address should be up."""
        ports, self.ports, units, self.units = self.ports, {}, self.units, {}
        self.terse = False
        return tuple(
            Interface(
                interface=port, up=up, enabled=admin, kind="switch port",
                reason="no link" if admin and not up and units.get(port) else "",
                host=self.source.host, evidence=evidence,
            )
            for port, (admin, up, evidence) in ports.items()
        )  # fmt: skip

    def _row(self, row: "re.Match[str]", evidence: Evidence) -> Sequence[Fact]:
        if row["unit"]:
            self.units[row["port"]] = bool(row["rest"].strip())
        else:
            self.ports[row["port"]] = (row["admin"] == "up", row["link"] == "up", evidence)
        return READ

    def _state(self, port: str, admin: bool, up: bool, evidence: Evidence) -> Interface:  # noqa: FBT001 - cells of a line
        return Interface(
            interface=port, up=up, enabled=admin, kind="switch port",
            reason="no link" if admin and not up else "", host=self.source.host,
            evidence=evidence,
        )  # fmt: skip

    def _inside(self, text: str, evidence: Evidence) -> Sequence[Fact] | None:
        """Read what stands below the name of a port."""
        queue = _QUEUE.match(text)
        if queue:
            self.queue = queue["queue"]
            return READ
        dropped = _DROPS.match(text) if self.queue else None
        if dropped:
            kind = _DROPPED.get(dropped["name"].partition("-")[0])
            name = f"_{kind}_dropped_packets" if kind else "_ecn_marked_packets"
            return self._counters([(f"queue{self.queue}{name}", dropped["value"])], evidence)
        priority = _PRIORITY.match(text)
        if priority:
            names = [f"{way}_prio{priority['prio']}_pause" for way in ("rx", "tx")]
            return self._counters(list(zip(names, priority.group("rx", "tx"), strict=True)),
                                  evidence)  # fmt: skip
        return self._errors(text, evidence)

    def _errors(self, text: str, evidence: Evidence) -> Sequence[Fact] | None:
        if "nput errors:" in text or "utput errors:" in text:
            self.way = "input" if "nput" in text else "output"
            return READ
        mtu = _MTU.match(text)
        if mtu:
            return (
                Interface(interface=self.port, mtu_bytes=integer(mtu["mtu"]), up=True,
                          kind="switch port", host=self.source.host, evidence=evidence),
            )  # fmt: skip
        pairs = [
            (_NAMED[self.way, one["name"]], one["value"])
            for one in _PAIR.finditer(text[:400]) if (self.way, one["name"]) in _NAMED
        ]  # fmt: skip
        if pairs:
            return self._counters(pairs, evidence)
        two = _TWO.match(text)
        if two and two["name"] in _ROWS:
            names = _ROWS[two["name"]]
            return self._counters(
                [(n, v) for n, v in zip(names, two.group("rx", "tx"), strict=True) if n and v],
                evidence,
            )
        return READ if _MORE.match(text) else None

    def _counters(self, pairs: list[tuple[str, str]], evidence: Evidence) -> Sequence[Fact]:
        return tuple(
            Counter(where=self.port, name=name, value=int(value), on_switch=True,
                    host=self.source.host, evidence=evidence)
            for name, value in pairs
        )  # fmt: skip


junos = Parser(
    tool="Junos",
    marks=("Physical interface: ", "Admin Link Proto", "Forwarding classes:"),
    reader=_Reader,
    rank=33,
    longest=1024,
)
