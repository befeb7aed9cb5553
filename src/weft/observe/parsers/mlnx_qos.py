"""``mlnx_qos``: trust, DSCP map, PFC, buffers and traffic classes of an interface."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from weft.observe.facts.base import Evidence, Fact
from weft.observe.facts.programs import Setting
from weft.observe.facts.service_quality import (
    DscpPriority,
    PauseSetting,
    PriorityClass,
    TrustState,
)
from weft.observe.parser import READ, Parser, Source

_NAMED = re.compile(r"mlnx_qos\b.*?-i[ =_]?(?P<name>[a-z][\w.@-]*)")
_TRUST = re.compile(r"Priority trust (?:state|mode): *(?P<trust>\w+)")
_DSCP = re.compile(r"\s*prio:(?P<prio>\d) dscp:(?P<dscp>[\d, ]+)")
_ENABLED = re.compile(r"\s*enabled\s+(?P<flags>(?:[01]\s*){8})$")
_CLASS = re.compile(
    r"\s*tc: (?P<tc>\d) ratelimit: (?P<limit>[^,]+), tsa: (?P<tsa>\w+)(?:, bw: (?P<bw>\d+)%)?"
)
_PRIORITY = re.compile(r"\s*priority:\s+(?P<prio>\d)\s*$")
_MODE = re.compile(r"DCBX mode: (?P<mode>.*?)\s*$")
_REST = re.compile(
    r"dscp2prio mapping|PFC configuration|Cable len|Receive buffer size|\s*priority(?:"
    r"\s+\d){8}|\s*buffer\s+\d|"
    r"Buffers|total_size|\s*default priority"
)
_PERCENT = 0.01


@dataclass(slots=True)
class _Reader:
    """Reads settings; a traffic class is stated when its priorities are known."""

    source: Source
    interface: str = ""
    traffic_class: "re.Match[str] | None" = None
    priorities: list[int] = field(default_factory=list)
    where: Evidence | None = None

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return the facts of a line."""
        named = _NAMED.search(self.source.command) or _NAMED.search(self.source.file)
        self.interface = named["name"] if named else self.interface
        evidence = self.source.evidence(text, number)
        mode = _MODE.match(text)
        if mode:
            done = tuple(self.end())
            return (*done, Setting(name="DCBX mode", value=mode["mode"], evidence=evidence))
        for expression, state in _LINES:
            found = expression.match(text)
            if found:
                return state(self, found, evidence)
        return READ if _REST.match(text) else None

    def end(self) -> Iterable[Fact]:
        """State the last traffic class."""
        found, self.traffic_class = self.traffic_class, None
        if found is None or self.where is None:
            return ()
        priorities, self.priorities = tuple(self.priorities), []
        return (
            PriorityClass(
                interface=self.interface,
                traffic_class=int(found["tc"]),
                priorities=priorities,
                scheduler=found["tsa"],
                share_ratio=int(found["bw"]) * _PERCENT if found["bw"] else None,
                host=self.source.host,
                evidence=self.where,
            ),
        )

    def trust(self, found: "re.Match[str]", evidence: Evidence) -> Sequence[Fact]:
        """State what packets are sorted by."""
        host = self.source.host
        return (
            TrustState(
                interface=self.interface, trust=found["trust"], host=host, evidence=evidence
            ),
        )

    def dscp(self, found: "re.Match[str]", evidence: Evidence) -> Sequence[Fact]:
        """State the DSCP values of a priority."""
        values = tuple(int(one) for one in found["dscp"].replace(",", " ").split())
        return (
            DscpPriority(
                interface=self.interface,
                priority=int(found["prio"]),
                dscp=values,
                host=self.source.host,
                evidence=evidence,
            ),
        )

    def pause(self, found: "re.Match[str]", evidence: Evidence) -> Sequence[Fact]:
        """State the priorities with PFC."""
        flags = found["flags"].split()
        return (
            PauseSetting(
                interface=self.interface,
                priorities=tuple(place for place, flag in enumerate(flags) if flag == "1"),
                host=self.source.host,
                evidence=evidence,
            ),
        )

    def opened(self, found: "re.Match[str]", evidence: Evidence) -> Sequence[Fact]:
        """Begin a traffic class."""
        done = tuple(self.end())
        self.traffic_class, self.where = found, evidence
        return done

    def priority(self, found: "re.Match[str]", evidence: Evidence) -> Sequence[Fact]:
        """Note a priority of the traffic class."""
        del evidence
        self.priorities.append(int(found["prio"]))
        return READ


_LINES = (
    (_TRUST, _Reader.trust),
    (_DSCP, _Reader.dscp),
    (_ENABLED, _Reader.pause),
    (_CLASS, _Reader.opened),
    (_PRIORITY, _Reader.priority),
)
mlnx_qos = Parser(
    tool="mlnx_qos",
    marks=("DCBX mode", "Priority trust", "dscp2prio", "prio:", "PFC configuration", "tsa: "),
    reader=_Reader,
    rank=30,
)
