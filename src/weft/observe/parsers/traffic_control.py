"""``tc -s``: what the queues of an interface drop, and delay or loss that was asked for."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from weft.observe.facts.base import Fact
from weft.observe.facts.interfaces import Counter
from weft.observe.facts.programs import Setting
from weft.observe.parser import READ, Parser, Source

_QUEUE = re.compile(
    r"\s*(?:qdisc|class) (?P<kind>[a-z]\w{1,20}) \w{1,8}:\w{0,8} (?:dev (?P<dev>\S{1,40}) )?"
    r"(?:root|parent \w{0,8}:\w{0,8}|ingress)(?P<rest>.{0,300})"
)
_COMMAND = re.compile(r"\btc (?:-\S+ )*(?:qdisc|class)\b.{0,40}?\bdev (\S+)")
_SENT = re.compile(
    r"\s*Sent \d{1,20} bytes \d{1,20} pkts? \(dropped (?P<dropped>\d{1,20}), overlimits "
    r"\d{1,20}(?:,)? requeues \d{1,20}\)"
)
_REST = re.compile(
    r"\s+(?:backlog \d|maxpacket \d|new_flows?_\w+ \d|rate \d|tokens|lended|marked \d|"
    r"(?:early|count|prob|memory_used|capacity|flows|throttled|gc|alloc) ?\d)"
)
_WORSENS = re.compile(r"\b(?:delay|loss|limit|corrupt|duplicate|reorder|rate) [\d.]+\S*")
_MADE_WORSE = frozenset({"netem", "tbf"})
"""Queues that exist to delay, lose or slow packets."""


@dataclass(slots=True)
class _Reader:
    """Reads queues, remembering the interface and the one above."""

    source: Source
    interface: str = ""
    kind: str = ""

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return the facts of a line."""
        queue = _QUEUE.match(text)
        if queue:
            return self._queue(queue, text, number)
        if not self.kind:
            return None
        sent = _SENT.match(text)
        if not sent:
            return READ if _REST.match(text) else None
        dropped = int(sent["dropped"])
        if not dropped:
            return READ
        return (
            Counter(
                where=self.interface, name="qdisc_drops", value=dropped,
                sample=self.source.sample, sampled_s=self.source.sampled_s,
                host=self.source.host, evidence=self.source.evidence(text, number),
            ),
        )  # fmt: skip

    def end(self) -> Iterable[Fact]:
        """Forget the interface."""
        self.interface = self.kind = ""
        return READ

    def _queue(self, queue: "re.Match[str]", text: str, number: int) -> Sequence[Fact]:
        named = _COMMAND.search(self.source.command)
        self.interface = queue["dev"] or (named[1] if named else self.interface)
        self.kind = queue["kind"]
        worse = _WORSENS.findall(queue["rest"]) if self.kind in _MADE_WORSE else []
        if not worse:
            return READ
        return (
            Setting(
                name=f"tc {self.kind} {self.interface}".strip(), value=", ".join(worse),
                origin="kernel", evidence=self.source.evidence(text, number),
            ),
        )  # fmt: skip


traffic_control = Parser(tool="tc", marks=("qdisc ", "requeues "), reader=_Reader, rank=37)
