"""Counters and settings of other switches: Cumulus/NVUE, Arista EOS, Cisco NX-OS."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from weft.observe.facts.base import Evidence, Fact
from weft.observe.facts.interfaces import Counter, Interface
from weft.observe.facts.programs import SoftwareVersion
from weft.observe.facts.service_quality import PauseSetting, PauseWatchdog
from weft.observe.parser import READ, Parser, Source
from weft.observe.parsers._values import count

_PORT = r"(?:swp\d+(?:s\d+)?|Et\d+(?:/\d+)*|Eth\d+(?:/\d+)+|Ethernet\d+/\d+(?:/\d+)?)"
_PFC_HEAD = re.compile(r"\s*(?:Port|Interface)\s+(?:Class|Status|Mode|Oper|RxPfc|TxPfc|PFC).*")
_NXOS = re.compile(
    rf"\s*(?P<port>{_PORT})\s+(?P<mode>Auto|On|Off)\s+(?P<oper>On|Off)\s*(?:\((?P<vl>"
    r"\w+)\))?\s+(?P<rx>\d+)\s+(?P<tx>\d+)"
)
_EOS_PRIORITY = re.compile(
    rf"\s*(?P<port>{_PORT})\s+(?:(?P<rx>\d[\d,]*(?:\s+\d[\d,]*){{7}}))\s*$"
)
_EOS_ENABLED = re.compile(
    rf"\s*(?P<port>{_PORT})\s+(?P<enabled>Yes|No)\s++"
    r"(?:(?P<prios>[\d,-]++(?: [\d,-]++)*+)\s++)?(?P<status>\w+)(?:\s+(?P<note>.*))?$"
)
_EOS_LETTERS = re.compile(
    rf"\s*(?P<port>{_PORT})\s+(?P<enabled>[ED])\s+[A-]\s+[W-]\s+(?P<prios>[0-7](?:[ ,][0-7])*)?"
)
_WAY = re.compile(
    r"\s*(?:Port|Interface)\s++(?:(?P<way>Rx|Tx|In|Out)\w*+)?\s*+(?:Priority|PFC|Class)?"
    r"\s*+(?:0\s+1\s+2\s+3\s+4\s+5\s+6\s+7|UC0.*)"
)
_NVUE_ROW = re.compile(
    r"\s*(?P<name>(?:rx|tx|in|out)-[\w-]+|carrier-\w+|pfc-\w+|pause-\w+|ecn-\w+|"
    r"[\w-]+-(?:errors|discards|drops|frames|pkts|packets|bytes|wait))\s+(?P<value>"
    r"\d[\d,.]*[KMG]?)\s*$"
)
_NVUE_PORT = re.compile(
    r"(?:nv show interface|cl-\w+ .*?|show interfaces?) (?P<port>swp\d+(?:s\d+)?|\S*Eth\S+)"
)
_EOS_ERRORS = re.compile(rf"\s*(?P<port>{_PORT})(?P<values>(?:\s+\d{{1,20}}){{2,9}})\s*$")
_NVUE_QUEUES = re.compile(r"\s*Tc\s{2,}.*(?:discards|drops|Tx frames)")
_NVUE_NAMED = re.compile(
    r"\s*(?P<name>(?:In|Out|Carrier|Receive|Transmit|Rx|Tx)\b[A-Za-z ]{2,40}?)\s{2,}"
    r"(?P<value>\d[\d,]*)\s*$"
)
_COUNTER_HEAD = re.compile(
    r"\s*Port\s+(?P<columns>(?:FCS|Align|Symbol|Rx|Tx|Runts|Giants|In\w+|Out\w+).*)"
)
_STATUS = re.compile(
    rf"\s*(?P<port>{_PORT})\s+(?:\S.*?\s+)?(?P<state>connected|notconnect|errdisabled|"
    r"disabled)\s+\S+\s+\S+\s+(?P<speed>\S+)"
)


_SAID_STORM = re.compile(
    r"PFC[ _]?(?:watchdog|WD|W)\b(?!.{0,20}\bno storm).{0,80}?(?:detected|storm|stuck|shut)|"
    r"PFC storm "
    r"(?:detected|on)|"
    r"PFCWD-\d-(?:STUCK|STORM|QUEUE)|pause storm (?:detected|on)",
    re.IGNORECASE,
)
_EOS_STUCK = re.compile(
    rf"\s*(?P<port>{_PORT})\s+(?:UC|TC|Q)?(?P<queue>\d)\s+(?P<stuck>\d+)\s+(?P<recovered>\d+)"
    r"(?:\s+\d+)?\s*$"
)
_NXOS_FRAME = re.compile(
    rf"\s*\|\s*(?P<port>{_PORT})\s*(?:\||$)|"
    rf"\s*(?P<port2>{_PORT}) Interface PFC watchdog: \[Enabled"
)
_NXOS_STATE = re.compile(
    r"\s*\|.{0,40}(?:PFCWD State|PFC WD State)\s*:\s*(?P<state>\w+)|"
    r"\s*\| QOS GROUP \d \[(?P<state2>\w+)\] PFC \["
)
_NXOS_SHUT = re.compile(r"\s*+\|?\s*+Shutdown\s*+\|\s*+(?P<count>\d+)")
_NXOS_REST = re.compile(
    r"\s*(?:[+|][-+=]{3,}|\|\s*(?:Stats|Restored|Total|VL|Pkts|Bytes|Dropped)\b)"
)
_LONG = rf"{_PORT}|Ethernet\d{{1,3}}"
_IS_UP = re.compile(rf"(?P<port>{_LONG}) is (?P<state>up|down|administratively down)\b")
_MTU = re.compile(r"\s{1,8}(?:(?:IP|Ethernet) )?MTU (?P<mtu>\d{3,5}) bytes\b")
_DETAIL = re.compile(
    r"\s{1,8}(?:Hardware|Description|Internet address|admin state|Belongs to|Port mode|"
    r"reliability|Encapsulation|Full-duplex|full-duplex|Last clearing|Up \d|Loopback|"
    r"\d+ link status|"
    r"Auto-negotiation|\d+ (?:seconds?|minutes?)|\d[\d,]* (?:packets|unicast|runts|input|"
    r"output|broadcast|bytes|CRC|alignment)|Received \d|Sent \d|Beacon|Input flow|RX|TX)\b"
)


_WORDED = re.compile(
    r"(?P<value>\d[\d,]{0,20}) (?P<what>CRC|symbol|alignment|(?:in|out)put (?:errors?|"
    r"discards?)|no buffer|link status changes|[RT]x pause|PAUSE (?:in|out)put)\b",
    re.IGNORECASE,
)
"""Counters in words, as EOS and NX-OS describe a port: ``12 CRC, 0 alignment``."""
_WORDS = {
    "crc": "rx_crc_errors", "symbol": "rx_symbol_errors", "alignment": "rx_align_errors",
    "input discard": "in_discards", "output discard": "out_discards", "rx pause": "rx_pause",
    "tx pause": "tx_pause", "pause input": "rx_pause", "pause output": "tx_pause",
    "link status change": "carrier_changes", "input error": "rx_errors",
}  # fmt: skip
_SHORT = {"rxpfc": "rx_pause", "txpfc": "tx_pause"}
_VERSION = re.compile(
    r"\s*(?:Software image version|NXOS: version|System version:)[: ]\s*(?P<version>\S+)"
)


def _snake(name: str) -> str:
    """Return a name in words as a counter is called.

    >>> _snake("Out drops")
    'out_drops'
    """
    return name.strip().lower().replace(" ", "_").replace("-", "_")


@dataclass(slots=True)
class _Reader:
    """Reads rows, remembering the direction of the last heading."""

    source: Source
    way: str = ""
    columns: list[str] = field(default_factory=list)
    port: str = ""
    up: bool | None = None
    watching: bool = False

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return the facts of a line."""
        evidence = self.source.evidence(text, number)
        nxos = _NXOS.match(text)
        described = self._nxos(nxos, evidence) if nxos else self._watchdog(text, evidence)
        described = self._described(text, evidence) if described is None else described
        if described is not None:
            return described
        heading = _WAY.match(text)
        if heading:
            self.way = {"Tx": "tx", "Out": "tx"}.get(heading["way"] or "", "rx")
            return READ
        headed = _COUNTER_HEAD.match(text)
        if headed:
            self.columns = headed["columns"].split()
            return READ
        priorities = _EOS_PRIORITY.match(text) if self.way else None
        if priorities:
            names = [f"{self.way}_prio{p}_pause" for p in range(8)]
            return self._counters(priorities["port"], names, priorities["rx"].split(), evidence)
        errors = _EOS_ERRORS.match(text) if self.columns else None
        if errors and len(errors["values"].split()) == len(self.columns):
            lower = [c.lower().replace("-", "_") for c in self.columns]
            names = [_SHORT.get(c, c) for c in lower]
            return self._counters(errors["port"], names, errors["values"].split(), evidence)
        return self._settings(text, evidence)

    def end(self) -> Iterable[Fact]:
        """Keep nothing to the end."""
        return READ

    def _watchdog(self, text: str, evidence: Evidence) -> Sequence[Fact] | None:
        """Read what the PFC watchdogs of EOS and NX-OS count."""
        watching = "watchdog" in self.source.command or self.watching
        self.watching = watching or "times stuck" in text or "counters watchdog" in text
        stuck = _EOS_STUCK.match(text) if watching else None
        if stuck:
            return self._stormed(stuck["port"], int(stuck["queue"]), stuck["stuck"],
                                 stuck["recovered"], "", evidence)  # fmt: skip
        frame = _NXOS_FRAME.match(text)
        if frame:
            self.port = frame["port"] or frame["port2"]
            return READ
        state = _NXOS_STATE.match(text)
        if state and (self.port or state["state2"]):
            self.port = self.port or self._asked_for()
            word = (state["state"] or state["state2"]).lower()
            return self._stormed(self.port, None, "0", "0", word, evidence)
        count = _NXOS_SHUT.match(text)
        if count and self.port:
            return self._stormed(self.port, None, count["count"], "0", "", evidence)
        said = _SAID_STORM.search(text)
        if said:
            port = re.search(rf"\b(?:{_LONG})\b", text)
            return self._stormed(port[0] if port else "", None, "1", "0", "", evidence)
        return READ if self.port and _NXOS_REST.match(text) else None

    def _asked_for(self) -> str:
        """Return the port that the command names, where the heading was cut off."""
        named = re.search(_PORT, self.source.command)
        return named[0] if named else "a port that is not named"

    def _stormed(  # noqa: PLR0917 - the cells of one row
        self, port: str, queue: int | None, found: str, restored: str, state: str,
        evidence: Evidence,
    ) -> Sequence[Fact]:  # fmt: skip
        return (
            PauseWatchdog(
                port=port,
                queue=queue,
                status="stormed" if state == "shutdown" else state,
                storms_detected=int(found),
                storms_restored=int(restored),
                host=self.source.host,
                evidence=evidence,
            ),
        )

    def _described(self, text: str, evidence: Evidence) -> Sequence[Fact] | None:
        """Read the description of one port: whether it is up, and its MTU."""
        named = _IS_UP.match(text)
        if named:
            self.port, self.up = named["port"], named["state"] == "up"
            return READ
        mtu = _MTU.match(text) if self.port else None
        if mtu:
            return (self._mtu(int(mtu["mtu"]), evidence),)
        worded = list(_WORDED.finditer(text[:400])) if self.port else []
        if worded:
            return self._worded(worded, evidence)
        return READ if self.port and _DETAIL.match(text) else None

    def _worded(self, found: "list[re.Match[str]]", evidence: Evidence) -> Sequence[Fact]:
        """State counters that are written in words."""
        pairs = [
            (_WORDS[name], one["value"]) for one in found
            if (name := one["what"].lower().removesuffix("s")) in _WORDS
        ]  # fmt: skip
        names, values = [name for name, _ in pairs], [value for _, value in pairs]
        return self._counters(self.port, names, values, evidence)

    def _mtu(self, mtu_bytes: int, evidence: Evidence) -> Interface:
        return Interface(
            interface=self.port, up=self.up, mtu_bytes=mtu_bytes, kind="switch port",
            host=self.source.host, evidence=evidence,
        )  # fmt: skip

    def _settings(self, text: str, evidence: Evidence) -> Sequence[Fact] | None:
        nvue = self._nvue(text, evidence)
        if nvue is not None:
            return nvue
        row = _NVUE_ROW.match(text)
        if row:
            port = _NVUE_PORT.search(self.source.command)
            where = port["port"] if port else ""
            return self._counters(
                where, [row["name"].replace("-", "_")], [row["value"]], evidence
            )
        enabled = _EOS_ENABLED.match(text) or _EOS_LETTERS.match(text)
        if enabled:
            priorities = tuple(int(one) for one in re.findall(r"\d", enabled["prios"] or ""))
            return (self._pause(enabled["port"], priorities, evidence),)
        status = _STATUS.match(text)
        if status:
            up = status["state"] == "connected"
            return (
                Interface(
                    interface=status["port"], up=up, host=self.source.host, evidence=evidence
                ),
            )
        version = _VERSION.match(text)
        if version:
            system = "NX-OS" if "NX" in text or "System" in text else "EOS"
            return (
                SoftwareVersion(software=system, version=version["version"], evidence=evidence),
            )
        return READ if _PFC_HEAD.match(text) else None

    def _nvue(self, text: str, evidence: Evidence) -> Sequence[Fact] | None:
        """Read the tables that ``nv show interface`` prints of counters."""
        port = _NVUE_PORT.search(self.source.command)
        if not port:
            return None
        if _NVUE_QUEUES.match(text):
            self.columns = re.split(r"\s{2,}", text.strip().lower())
            return READ
        cells = re.split(r"\s{2,}", text.strip())
        if len(cells) > 2 and len(cells) == len(self.columns) and cells[0].isdigit():  # noqa: PLR2004 - a table
            names = [f"queue{cells[0]}_{_snake(one)}" for one in self.columns]
            numbers = [one if one.replace(",", "").isdigit() else "" for one in cells]
            return self._counters(port["port"], names, numbers, evidence)
        named = _NVUE_NAMED.match(text)
        if named:
            return self._counters(
                port["port"], [_snake(named["name"])], [named["value"]], evidence
            )
        return None

    def _nxos(self, found: "re.Match[str]", evidence: Evidence) -> Sequence[Fact]:
        counters = self._counters(
            found["port"], ["rx_pause", "tx_pause"], [found["rx"], found["tx"]], evidence
        )
        bitmap = int(found["vl"], 16) if found["vl"] else 0
        on = tuple(p for p in range(8) if bitmap >> p & 1) if found["oper"] == "On" else ()
        return (self._pause(found["port"], on, evidence), *counters)

    def _pause(
        self, port: str, priorities: tuple[int, ...], evidence: Evidence
    ) -> PauseSetting:
        host = self.source.host
        return PauseSetting(
            interface=port, priorities=priorities, on_switch=True, host=host, evidence=evidence
        )

    def _counters(
        self, port: str, names: list[str], values: list[str], evidence: Evidence
    ) -> Sequence[Fact]:
        numbers = [(name, count(value)) for name, value in zip(names, values, strict=True)]
        return tuple(
            Counter(
                where=port,
                name=n,
                value=v,
                on_switch=True,
                host=self.source.host,
                evidence=evidence,
            )
            for n, v in numbers
            if v is not None
        )


switch_cli = Parser(
    tool="switch command lines",
    marks=(
        "swp",
        "Et",
        "PFCWD",
        "PFC ",
        "PFC_",
        "torm",
        "RxPfc",
        "nv show",
        "rx-",
        "tx-",
        "in-",
        "out-",
        "carrier-",
        " MTU ",
        "image version",
        "NXOS: ",
    ),
    reader=_Reader,
    rank=48,
)
