"""NX-OS ``show queuing interface`` and ``flowcontrol``: queues, drops, pauses."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from weft.observe.facts.base import Evidence, Fact
from weft.observe.facts.interfaces import Counter
from weft.observe.parser import READ, Parser, Source
from weft.observe.parsers._values import count

_PORT = r"Eth(?:ernet)?\d+(?:/\d+)+"
_OPENS = re.compile(rf"\s*(?:Egress|Ingress) Queuing for (?P<port>{_PORT})")
_GROUP = re.compile(r"\|\s+(?:QOS GROUP (?P<group>\d)|CONTROL QOS GROUP|SPAN QOS GROUP)\s+\|")
_ROW = re.compile(r"\|\s*(?P<name>[A-Z][\w/& ]{4,40}?)\s*\|\s*(?P<unicast>\d[\d,]*)\s*\|")
_INGRESS = re.compile(
    r"\s*(?P<name>(?:Ingress (?:MMU|Overflow)|(?:High?|Low) Priority|WRED|Tail) Drop "
    r"(?:Pkts|Packets))\s*:?\s+(?P<value>\d[\d,]*)(?: packets)?\s*$"
)
_PAUSES = re.compile(r"\s*TxPPP:\s*(?P<tx>\d[\d,]*),\s*RxPPP:\s*(?P<rx>\d[\d,]*)\s*$")
_PAUSED = re.compile(
    r"PFC \d of Qos-group \d ?: TxPPP (?P<tx>\d[\d,]*), RxPPP (?P<rx>\d[\d,]*)\s*$"
)
_REST = re.compile(
    r"\s*(?:[+|][-+=]{3,}|-{5,}\s*$|\||QoS-Group#|Port (?:E|In)gress Statistics|"
    r"PFC Statistics|PFC_COS|WRED Drop|(?:High?|Low) Priority|Ingress )"
)
_FLOW = re.compile(
    rf"\s*(?P<port>{_PORT})\s+(?:on|off|desired)/\S+\s+(?:on|off|desired)/\S+\s+"
    r"(?P<rx>\d[\d,]*)\s+(?P<tx>\d[\d,]*)\s*$"
)
_FLOW_HEAD = re.compile(r"\s*Port\s+Send F(?:C|low\w*)\s+Receive F(?:C|low\w*)")
_ASKED = re.compile(rf"\b(?:{_PORT}|[Ee]th(?:ernet)? ?\d+(?:/\d+)+)")


@dataclass(slots=True)
class _Reader:
    """Remembers the port and the group of queues that a heading named."""

    source: Source
    port: str = ""
    group: str = ""

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return the counters of a row."""
        evidence = self.source.evidence(text, number)
        pairs = self._drops(text) or self._pauses(text)
        if pairs:
            where = pairs.pop("where", "") or self._where()
            return self._counters(where, pairs, evidence)
        opens = _OPENS.match(text)
        if opens:
            self.port, self.group = opens["port"], ""
            return READ
        group = _GROUP.search(text)
        if group:
            self.group = group["group"] or "_of_the_switch"
            return READ
        inside = self.group and _REST.match(text)
        return READ if inside or _FLOW_HEAD.match(text) else None

    def end(self) -> Iterable[Fact]:
        """Keep nothing to the end."""
        return READ

    def _drops(self, text: str) -> dict[str, str]:
        ingress = _INGRESS.match(text)
        if ingress:
            name = "_".join(ingress["name"].lower().split())
            whole = name if name.startswith("ingress") else f"ingress_{name}"
            return {whole: ingress["value"]}
        row = _ROW.match(text) if self.group else None
        if row and "Drop Pkts" in row["name"]:
            return {f"queue{self.group}_dropped_packets": row["unicast"]}
        if row and row["name"] == "Tx Pkts":
            return {f"queue{self.group}_packets": row["unicast"]}
        return {}

    def _pauses(self, text: str) -> dict[str, str]:
        found = _PAUSES.match(text) or _PAUSED.match(text)
        if found:
            return {"tx_pause": found["tx"], "rx_pause": found["rx"]}
        flow = _FLOW.match(text)
        if flow:
            return {"where": flow["port"], "tx_pause": flow["tx"], "rx_pause": flow["rx"]}
        return {}

    def _where(self) -> str:
        """Return the port that a heading or the command named."""
        named = _ASKED.search(self.source.command)
        return self.port or (named[0].replace(" ", "").capitalize() if named else "")

    def _counters(
        self, where: str, pairs: dict[str, str], evidence: Evidence
    ) -> Sequence[Fact]:
        host = self.source.host
        return tuple(
            Counter(where=where, name=name, value=number, on_switch=True, host=host,
                    evidence=evidence)
            for name, value in pairs.items() if (number := count(value)) is not None
        )  # fmt: skip


nxos_queuing = Parser(
    tool="NX-OS queues",
    marks=("QOS GROUP", "Drop Pkts", "TxPPP", "Send FC", "Send Flow"),
    reader=_Reader,
    rank=47,
)
