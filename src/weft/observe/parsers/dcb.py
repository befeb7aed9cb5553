"""``dcb`` of iproute2 and ``lldptool``: PFC, its counts, traffic classes, the DSCP map."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from weft.observe.facts.base import Evidence, Fact
from weft.observe.facts.interfaces import Counter
from weft.observe.facts.service_quality import DscpPriority, PauseSetting, PriorityClass
from weft.observe.parser import READ, Parser, Source

_COMMAND = re.compile(
    r"dcb (?:-\S+ )*(?:pfc|ets|app|buffer|maxrate|rewr)\b.{0,60}?\bdev (\S+)|"
    r"lldptool .{0,60}?-t?i (\S+)"
)
_PAUSE_TLV = re.compile(r"\s*PFC TLV\b")
_ENABLED = re.compile(r"\s*PFC enabled: {1,8}(?P<list>none|\d[\d ,]{0,30})$")
_ROW = re.compile(
    r"\s*(?P<name>prio-pfc|requests|indications|tc-bw|tc-tsa|prio-tc|dscp-prio)"
    r"(?P<pairs>(?: [\w-]{1,12}:\w{1,24})+)\s*$"
)
_REST = re.compile(
    r"\s*(?:(?:Willing|MACsec Bypass|PFC capable|enableTx)\b|"
    r"(?:pfc-cap|ets-cap|willing|total-size|macsec-bypass|delay) \w|pg-bw \d|"
    r"reco-[\w-]+ \d|(?:prio-buffer|buffer-size|tc-maxrate) \d:|(?:ethtype|port|stream-port|"
    r"dgram-port|pcp)-prio\b|(?:prio|default)-\w+\b)"
)
_PERCENT = 0.01
_SELECTORS = {
    "BE": 0, "EF": 46, "VA": 44, "LE": 1,
    **{f"CS{place}": place << 3 for place in range(8)},
    **{f"AF{high}{low}": (high << 3) + (low << 1)
       for high in range(1, 5) for low in range(1, 4)},
}  # fmt: skip
"""Names of DSCP values [RFC 2474, RFC 2597, RFC 3246]."""
_COUNTS = {"requests": "tx_prio{}_pause", "indications": "rx_prio{}_pause"}
"""PFC frames sent and received, under the names that mlx5 gives them [dcb-pfc(8)]."""


@dataclass(slots=True)
class _Reader:
    """Reads rows of pairs; traffic classes are stated when their priorities are known."""

    source: Source
    interface: str = ""
    inside: bool = False
    schedulers: dict[str, str] = field(default_factory=dict)
    shares: dict[str, str] = field(default_factory=dict)

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return the facts of a line."""
        named = _COMMAND.search(self.source.command)
        self.interface = named[1] or named[2] if named else self.interface
        row, evidence = _ROW.match(text), self.source.evidence(text, number)
        if not row:
            return self._of_lldptool(text, evidence)
        pairs = [one.partition(":")[::2] for one in row["pairs"].split()]
        return tuple(self._facts(row["name"], pairs, evidence))

    def _of_lldptool(self, text: str, evidence: Evidence) -> Sequence[Fact] | None:
        """Read the lines of ``lldptool -t -V PFC``, and those that say nothing of either."""
        if _PAUSE_TLV.match(text):
            self.inside = True
            return READ
        enabled = _ENABLED.match(text) if self.inside else None
        if not enabled:
            return READ if (self.interface or self.inside) and _REST.match(text) else None
        return (
            PauseSetting(
                interface=self.interface,
                priorities=tuple(int(one) for one in re.findall(r"\d", enabled["list"])),
                host=self.source.host, evidence=evidence,
            ),
        )  # fmt: skip

    def end(self) -> Iterable[Fact]:
        """Forget the interface."""
        self.inside = False
        self.interface, self.schedulers, self.shares = "", {}, {}
        return READ

    def _facts(
        self, name: str, pairs: list[tuple[str, str]], evidence: Evidence
    ) -> Iterator[Fact]:
        if name == "prio-pfc":
            lossless = tuple(int(one) for one, word in pairs if one.isdigit() and word == "on")
            yield PauseSetting(
                interface=self.interface, priorities=lossless, host=self.source.host,
                evidence=evidence,
            )  # fmt: skip
        elif name in _COUNTS:
            yield from self._counts(_COUNTS[name], pairs, evidence)
        elif name == "dscp-prio":
            yield from self._map(pairs, evidence)
        elif name == "tc-bw":
            self.shares = dict(pairs)
        elif name == "tc-tsa":
            self.schedulers = dict(pairs)
        else:
            yield from self._classes(pairs, evidence)

    def _counts(
        self, name: str, pairs: list[tuple[str, str]], evidence: Evidence
    ) -> Iterator[Counter]:
        for priority, value in pairs:
            if value.isdigit():
                yield Counter(
                    where=self.interface, name=name.format(priority), value=int(value),
                    sample=self.source.sample, sampled_s=self.source.sampled_s,
                    host=self.source.host, evidence=evidence,
                )  # fmt: skip

    def _map(self, pairs: list[tuple[str, str]], evidence: Evidence) -> Iterator[DscpPriority]:
        for named, priority in pairs:
            value = int(named) if named.isdigit() else _SELECTORS.get(named.upper())
            if value is not None and priority.isdigit():
                yield DscpPriority(
                    interface=self.interface, priority=int(priority), dscp=(value,),
                    host=self.source.host, evidence=evidence,
                )  # fmt: skip

    def _classes(
        self, pairs: list[tuple[str, str]], evidence: Evidence
    ) -> Iterator[PriorityClass]:
        held: dict[str, list[int]] = {}
        for priority, name in pairs:
            if priority.isdigit() and name.isdigit():
                held.setdefault(name, []).append(int(priority))
        for name, priorities in held.items():
            share, scheduler = self.shares.get(name, ""), self.schedulers.get(name, "")
            yield PriorityClass(
                interface=self.interface, traffic_class=int(name),
                priorities=tuple(priorities), scheduler=scheduler,
                share_ratio=int(share) * _PERCENT if scheduler == "ets" and share.isdigit()
                else None,
                host=self.source.host, evidence=evidence,
            )  # fmt: skip


dcb = Parser(
    tool="dcb and lldptool",
    marks=(
        "prio-pfc ",
        "pfc-cap ",
        "ets-cap ",
        "tc-tsa ",
        "dscp-prio",
        "prio-buffer ",
        "PFC TLV",
        "PFC enabled:",
    ),
    reader=_Reader,
    rank=33,
)
