"""``nstat`` and ``netstat -s``: the counts of the kernel's own network protocols.

Both read /proc/net/snmp and /proc/net/netstat; sentences become the names that stand there.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from weft.observe.facts.base import Fact
from weft.observe.facts.interfaces import Counter
from weft.observe.parser import READ, Parser, Source

_ROW = re.compile(
    r"(?P<name>(?:Ip6?|Icmp6?|Tcp|Udp6?|UdpLite6?|MPTcp|TcpExt|IpExt)[A-Z]\w{1,50})\s{1,40}"
    r"(?P<value>\d{1,20})\s{1,20}\d+\.\d+\s*$"
)
_SECTION = re.compile(
    r"(?P<name>Ip6?|Icmp6?|IcmpMsg|Tcp|Udp6?|UdpLite6?|TcpExt|IpExt|MPTcpExt|Sctp):\s*$"
)
_COUNT = re.compile(r"\s{4,8}(?P<value>\d{1,20}) (?P<words>[A-Za-z][^\d:]{3,100})$")
_NAMED = re.compile(r"\s{4,8}(?P<name>[A-Z]\w{2,50}): (?P<value>\d{1,20})\s*$")
_TITLE = re.compile(r"#kernel\s*$")
_WITHIN = re.compile(r"\s{4,12}\S")
_SENTENCES = (
    (re.compile(r"segments retrans"), "TcpRetransSegs"),
    (re.compile(r"bad segments received"), "TcpInErrs"),
    (re.compile(r"failed connection attempts"), "TcpAttemptFails"),
    (re.compile(r"listen queue of a socket overflowed"), "TcpExtListenOverflows"),
    (re.compile(r"SYNs to LISTEN sockets dropped"), "TcpExtListenDrops"),
    (re.compile(r"other TCP timeouts"), "TcpExtTCPTimeouts"),
    (re.compile(r"packets? reassembles? failed"), "IpReasmFails"),
    (re.compile(r"incoming packets discarded"), "IpInDiscards"),
    (re.compile(r"outgoing packets dropped"), "IpOutDiscards"),
    (re.compile(r"dropped because of missing route"), "IpOutNoRoutes"),
    (re.compile(r"receive buffer errors"), "UdpRcvbufErrors"),
    (re.compile(r"packets? to unknown port"), "UdpNoPorts"),
)


@dataclass(slots=True)
class _Reader:
    """Reads counts, remembering the protocol above."""

    source: Source
    section: str = ""

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return the count of a line."""
        row = _ROW.match(text)
        if row:
            return self._count(row["name"], row["value"], text, number)
        section = _SECTION.match(text)
        if section or _TITLE.match(text):
            self.section = section["name"] if section else ""
            return READ
        if not self.section:
            return None
        named = _NAMED.match(text) if self.section.endswith("Ext") else None
        if named:
            return self._count(self.section + named["name"], named["value"], text, number)
        count = _COUNT.match(text)
        if count:
            name = next((to for words, to in _SENTENCES if words.search(count["words"])), "")
            return self._count(name, count["value"], text, number) if name else READ
        return READ if _WITHIN.match(text) else None

    def end(self) -> Iterable[Fact]:
        """Forget the protocol."""
        self.section = ""
        return READ

    def _count(self, name: str, value: str, text: str, number: int) -> Sequence[Fact]:
        if value == "0":
            return READ
        return (
            Counter(
                where="", name=name, value=int(value), sample=self.source.sample,
                sampled_s=self.source.sampled_s, host=self.source.host,
                evidence=self.source.evidence(text, number),
            ),
        )  # fmt: skip


network_counts = Parser(
    tool="nstat, netstat -s",
    marks=("#kernel", "TcpExt", "Tcp:", "IpExt", "TcpRetransSegs", "IpInReceives"),
    reader=_Reader,
    rank=41,
)
