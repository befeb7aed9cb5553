"""``ping``, and whether a host filters packets: ``iptables``, ``firewall-cmd``."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from weft.observe.facts.base import Evidence, Fact
from weft.observe.facts.hosts import ServiceState
from weft.observe.facts.interfaces import HostReached, PacketFilter
from weft.observe.parser import READ, Parser, Source

_TO = re.compile(
    r"(?:PING|---) (?P<host>[\w.:-]{1,120})"
    r"(?: \((?P<address>[\da-fA-F.:]{2,40})?.*| ping statistics ---)"
)
_SIZE = re.compile(r"PING .{1,200}?\) (?P<size>\d{1,6})\(\d{1,6}\) bytes of data")
_TOO_LONG = re.compile(
    r".{0,200}?(?:message too long, mtu[= ]+|Frag needed.{0,40}?mtu ?= ?)(?P<mtu>\d{2,5})",
    re.IGNORECASE,
)
_FROM = re.compile(r"PING \S{1,120} .{0,60}?\bfrom (?P<source>[\w.:-]{1,60})")
_ASKED_OF = re.compile(r"\bping[46]?(?P<words>(?: +[^\s|;&>]{1,80}){1,24})")
"""What follows the name of the program, where what it printed was cut down to the sum."""
_VALUED = re.compile(r"-[a-zA-Z]*[cCiIFlmMpQsStTwW]$")
"""The options of ``ping`` that the next word belongs to [ping(8)]."""
_NUMERIC = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}$|[\da-fA-F]*:[\da-fA-F:.]+$")
_WHOLE = re.compile(r"\bping\b.*-M (?:do|probe)\b")
_REPLY = re.compile(
    r"\d{1,6} bytes from [^:]{1,120}: icmp_seq|From \S+ icmp_seq=|rtt min/avg|round-trip min"
)
_COUNT = re.compile(
    r"(?P<sent>\d{1,9}) packets transmitted, (?P<received>\d{1,9}) (?:packets )?received"
)
_CHAIN = re.compile(r"Chain (?P<chain>INPUT|FORWARD) \(policy (?P<policy>\w+)")
_REJECT = re.compile(r"(?P<policy>REJECT|DROP)\s+(?:all|tcp|6|0)\s+--\s+\S+\s+\S+")
_ACTIVE = re.compile(r"\s*(?P<state>active|inactive|failed|unknown|running|not running)\s*$")
_RULES = re.compile(r"\s*-P INPUT (?P<policy>DROP|REJECT|ACCEPT)")
_NFT_CHAIN = re.compile(r"\s*chain (?P<chain>\w+) \{")
_NFT_POLICY = re.compile(r"\bpolicy (?P<policy>drop|reject|accept)\b")
_UFW = re.compile(r"Status: (?P<state>active|inactive)\s*$")
_ASKED = re.compile(r"systemctl (?:is-active|is-enabled)\s+(?:-\S+ )*(?P<service>[\w@.-]+)|"
                    r"firewall-cmd --state(?P<firewall>)")  # fmt: skip


def asked_of(command: str) -> tuple[str, str]:
    """Return whom the last ping of a command asks, and from where, where it says so.

    >>> asked_of("ping -c 3 -I eth2 n7 | tail -1"), asked_of("ping 10.0.0.4 -qc2")
    (('n7', 'eth2'), ('10.0.0.4', ''))
    """
    target = origin = ""
    for asked in _ASKED_OF.finditer(command):
        target, origin, before = "", "", ""
        for word in asked["words"].split():
            if word.startswith("-I") and len(word) > len("-I"):
                origin = word[len("-I") :]
            elif _VALUED.match(before):
                origin = word if before.endswith("I") else origin
                before = ""
                continue
            elif not word.startswith("-"):
                target = target or word
            before = word
    return target, origin


@dataclass(slots=True)
class _Reader:
    """Remembers whom a ping is for, and the chain whose rules are listed."""

    source: Source
    host: str = ""
    address: str = ""
    origin: str = ""
    chain: str = ""
    size: int | None = None
    mtu: int | None = None
    command: str = ""
    nft: bool = False

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return the facts of a line."""
        evidence = self.source.evidence(text, number)
        to, told = _TO.match(text), _TOO_LONG.match(text)
        if to or told:
            self.mtu = int(told["mtu"]) if told else self.mtu
            if to:
                self._asked_of(to["host"], text)
                self.address = to["address"] or self.address
            return READ
        count = _COUNT.match(text)
        if count:
            sent, received = int(count["sent"]), int(count["received"])
            self._by_command()
            return (
                HostReached(
                    target=self.host, source=self.origin, address=self.address,
                    sent=sent, received=received,
                    size_bytes=self.size, whole=self._whole(), mtu_bytes=self.mtu,
                    host=self.source.host, evidence=evidence,
                ),
            )  # fmt: skip
        ufw = _UFW.match(text) if "ufw" in self.source.command or "ufw" in text else None
        if ufw:
            return (ServiceState(service="ufw", state=ufw["state"], host=self.source.host,
                                 evidence=evidence),)  # fmt: skip
        chain = _CHAIN.match(text)
        rule = _REJECT.match(text) if self.chain else None
        if chain or rule:
            self.chain = chain["chain"] if chain else self.chain
            policy = (chain or rule)["policy"]  # type: ignore[index]  # one of them matched
            return (
                PacketFilter(
                    chain=self.chain, policy=policy, host=self.source.host, evidence=evidence
                ),
            )
        state = self._asked(text)
        if state:
            return (ServiceState(service=state[0], state=state[1], host=self.source.host,
                                 evidence=evidence),)  # fmt: skip
        return READ if _REPLY.match(text) else self._of_nft(text, evidence)

    def _of_nft(self, text: str, evidence: Evidence) -> Sequence[Fact] | None:
        """Read policies as ``iptables -S`` and ``nft list ruleset`` print them."""
        chain = _NFT_CHAIN.match(text)
        if chain:
            self.nft = chain["chain"].upper() == "INPUT"
            return READ
        policy = _RULES.match(text) or (_NFT_POLICY.search(text) if self.nft else None)
        if not policy:
            return None
        word, host = policy["policy"].upper(), self.source.host
        return (PacketFilter(chain="INPUT", policy=word, host=host, evidence=evidence),)

    def end(self) -> Iterable[Fact]:
        """Keep nothing to the end."""
        return READ

    def _asked_of(self, host: str, text: str) -> None:
        """Remember whom a ping is for, and its size where the first line tells it."""
        self.host, self.command = host, self.source.command
        if text.startswith("PING"):
            origin = _FROM.match(text)
            self.origin = origin["source"] if origin else ""
            size = _SIZE.match(text)
            self.size, self.mtu = int(size["size"]) if size else None, None

    def _by_command(self) -> None:
        """Take from the command whom it asks, where the output does not tell it."""
        if self.command == self.source.command:
            return
        target, origin = asked_of(self.source.command)
        if target:
            self.command = self.source.command
            self.host, self.address = target, target if _NUMERIC.match(target) else ""
            self.origin, self.size, self.mtu = origin, None, None

    def _whole(self) -> bool:
        """Return whether the ping may not be taken apart on the way."""
        return self.mtu is not None or _WHOLE.search(self.source.command) is not None

    def _asked(self, text: str) -> tuple[str, str] | None:
        asked = _ASKED.search(self.source.command)
        state = _ACTIVE.match(text) if asked else None
        if asked is None or state is None:
            return None
        running = {"running": "active", "not running": "inactive"}
        service = (asked["service"] or "firewalld").removesuffix(".service")
        return service, running.get(state["state"], state["state"])


ping = Parser(
    tool="ping and packet filters",
    marks=("packets transmitted", "icmp_seq", "PING ", "mtu", "Chain INPUT", "Chain FORWARD",
           "active", "running", "-P INPUT", "chain "),
    reader=_Reader,
    rank=56,
)  # fmt: skip
