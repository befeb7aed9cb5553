"""NVUE's tables of ports: errors and drops, all ports at a glance, transceivers."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from weft.observe.facts.adapters import CableEvent
from weft.observe.facts.base import Fact
from weft.observe.facts.interfaces import Counter, Interface, Neighbour
from weft.observe.parser import READ, Parser, Source

_PORT = re.compile(r"\b(?:interface|transceiver) (?P<port>swp\d{1,3}(?:s\d)?)")
_PAIRS = re.compile(r"\s*Counter\s+Receive\s+Transmit\s*$")
_PAIR = re.compile(
    r"\s*(?P<name>[A-Z][\w-]{1,20}(?: [A-Z][\w-]{1,20}){1,2})\s+(?P<rx>\d+|n/a)"
    r"\s+(?P<tx>\d+|n/a)\s*$"
)
_GLANCE = re.compile(r"\s*Interface\s+MTU\s+RX_OK\s+RX_ERR\s+RX_DRP\s+RX_OVR\s+TX_OK\s")
_SEEN = re.compile(
    r"\s*(?P<port>swp\w{1,8})\s+\d{3,5}(?P<cells>(?:\s+\d{1,20}){8})\s+\w{0,10}\s*$"
)
_COLUMNS = ("rx_packets", "rx_errors", "rx_dropped", "rx_overruns", "tx_packets", "tx_errors",
            "tx_dropped", "tx_overruns")  # fmt: skip
_LIMITS = re.compile(r"\s*Ch\s+Value\s+High Alarm\s+High Warn\s+Low Warn\s+Low Alarm")
_STATES = re.compile(r"\s*Interface\s+Admin Status\s+Oper Status\s+Speed\s+MTU\s+Type\b")
_STATE = re.compile(
    r"\s*(?P<port>swp\d{1,3}(?:s\d)?)\s+(?P<admin>up|down)\s+(?P<oper>up|down)\s+\S+\s+"
    r"(?P<mtu>\d{3,5})\s+swp(?:\s+(?P<system>[A-Za-z][\w.-]*)(?:\s+(?P<remote>[\w./:-]+))?)?"
)
_MEASURED = re.compile(
    r"\s*(?P<name>temperature|voltage|rx-power|tx-power|tx-bias-current)?\s+(?:-|\d)\s+"
    r"(?P<value>-?[\d.]+) (?:C|V|dBm|mA)\s+(?P<high>-?[\d.]+) (?:C|V|dBm|mA)"
    r"\s+-?[\d.]+ (?:C|V|dBm|mA)\s+-?[\d.]+ (?:C|V|dBm|mA)\s+(?P<low>-?[\d.]+) "
)
_ALARM = re.compile(r"\s+alarm\s{1,30}: (?P<alarm>On|Off)\b")
_GROUP = re.compile(
    r"\s*(?P<name>temperature|voltage|channel-\d|rx-power|tx-power|tx-bias-current):"
)
_LESSER = re.compile(
    r"\s*(?:[a-z][\w-]{2,30}\s{0,30}: |Threshold\s|-{5,}(?:\s+-{5,})*\s*$|={5,}\s*$|"
    r"(?:Drop|Error|Detailed) Counters)"
)
_NAMES = {
    "fcs errors": "fcs_errors",
    "symbol errors": "symbol_errors",
    "alignment errors": "alignment_errors",
    "buffer drops": "buffer_drops",
    "queue drops": "queue_drops",
}
_HEADS = ((_PAIRS, "pairs"), (_GLANCE, "glance"), (_LIMITS, "limits"), (_STATES, "states"))
_DARK_DBM = -30.0
"""Below this there is no light at all: nothing is plugged in at the other end."""


@dataclass(slots=True)
class _Reader:
    """Reads rows under the last heading."""

    source: Source
    table: str = ""
    group: str = ""
    command: str = ""

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return the facts of a row."""
        if self.command != self.source.command:
            self.command = self.source.command
            self.end()
        for head, name in _HEADS:
            if head.match(text):
                self.table, self.group = name, ""
                return READ
        if "transceiver" in self.source.command and self.table != "limits":
            return self._alarm(text, number)
        if not self.table:
            return None
        facts = {"pairs": self._pair, "glance": self._glance, "limits": self._limit,
                 "states": self._state}[self.table]  # fmt: skip
        found = facts(text, number)
        return READ if found is None and _LESSER.match(text) else found

    def end(self) -> Iterable[Fact]:
        """Forget the heading."""
        self.table = self.group = ""
        return READ

    def _pair(self, text: str, number: int) -> Sequence[Fact] | None:
        row = _PAIR.match(text)
        if not row:
            return None
        name = _NAMES.get(row["name"].lower())
        return tuple(
            self._counter(self._port(), f"{way}_{name}", int(row[way]), text, number)
            for way in ("rx", "tx") if name and row[way] != "n/a"
        )  # fmt: skip

    def _glance(self, text: str, number: int) -> Sequence[Fact] | None:
        row = _SEEN.match(text)
        if not row:
            return READ if re.match(r"\s*[\w.-]{1,20}\s+\d{3,5}(?:\s+\d+){8}", text) else None
        return tuple(
            self._counter(row["port"], name, int(value), text, number)
            for name, value in zip(_COLUMNS, row["cells"].split(), strict=True)
        )

    def _state(self, text: str, number: int) -> Sequence[Fact] | None:
        """Read a port with its size and its neighbour."""
        row = _STATE.match(text)
        if not row:
            return None
        host, evidence = self.source.host, self.source.evidence(text, number)
        port = Interface(
            interface=row["port"], up=row["oper"] == "up", enabled=row["admin"] == "up",
            mtu_bytes=int(row["mtu"]), kind="switch port", host=host, evidence=evidence,
        )  # fmt: skip
        if not row["system"]:
            return (port,)
        beside = Neighbour(interface=row["port"], system=row["system"],
                           port=row["remote"] or "", host=host, evidence=evidence)  # fmt: skip
        return (port, beside)

    def _limit(self, text: str, number: int) -> Sequence[Fact] | None:
        row = _MEASURED.match(text)
        if not row:
            return None
        self.group = row["name"] or self.group
        value = float(row["value"])
        dark = "power" in self.group and value <= _DARK_DBM
        if dark or float(row["low"]) <= value <= float(row["high"]):
            return READ
        return (self._event(f"error: {self.group} {value:g} beyond its alarm threshold", text,
                            number),)  # fmt: skip

    def _alarm(self, text: str, number: int) -> Sequence[Fact] | None:
        group = _GROUP.match(text)
        self.group = group["name"] if group else self.group
        alarm = _ALARM.match(text) if self.group else None
        if alarm and alarm["alarm"] == "On":
            return (self._event(f"error: {self.group} alarm", text, number),)
        return READ if group or alarm or _LESSER.match(text) else None

    def _event(self, event: str, text: str, number: int) -> CableEvent:
        return CableEvent(
            device=self._port(), module=None, event=event,
            evidence=self.source.evidence(text, number),
        )  # fmt: skip

    def _port(self) -> str:
        port = _PORT.search(self.source.command)
        return port["port"] if port else ""

    def _counter(self, where: str, name: str, value: int, text: str, number: int) -> Counter:
        return Counter(
            where=where, name=name, value=value, on_switch=True, host=self.source.host,
            evidence=self.source.evidence(text, number),
        )  # fmt: skip


nvue_interface = Parser(
    tool="NVUE interfaces",
    marks=("Counter  ", "RX_OK  RX_ERR", "High Alarm", "alarm ", "cable-type", "Oper Status"),
    reader=_Reader,
    rank=47,
    longest=1024,
)
