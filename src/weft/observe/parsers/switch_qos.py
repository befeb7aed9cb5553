"""How switches sort packets: EOS ``show qos interfaces``, ``nv show qos roce``, NX-OS maps.

What a port trusts, which DSCP goes to which priority, which priority is lossless, and which
DSCP a class of NX-OS takes.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from weft.observe.facts.base import Evidence, Fact
from weft.observe.facts.service_quality import (
    ClassMatch,
    DscpPriority,
    PauseSetting,
    TrustState,
)
from weft.observe.parser import READ, Parser, Source

_PORT = re.compile(
    r"\s*(?P<port>(?:Ethernet|Et|Port-Channel|Po|swp)\d+(?:/\d+)*(?:s\d)?):?\s*$"
)
_ASKED = re.compile(
    r"\binterfaces? (?P<port>(?:[Ee]th(?:ernet)? ?|Et|swp)\d+(?:/\d+)*(?:s\d)?)"
)
_TRUST = re.compile(r"\s*Trust Mode: (?P<trust>COS|DSCP|UNTRUSTED)", re.IGNORECASE)
_REST = re.compile(r"\s*(?:Default (?:COS|DSCP): \d|Port shaping rate:)")
_LOSSLESS = re.compile(r"\s*pfc-priority\s+(?P<priorities>\d(?:,\d)*)(?:\s+\d(?:,\d)*)?\s*$")
_MAP_HEAD = re.compile(r"\s*pcp\s+dscp\s+switch-prio(?:rity)?\s*$")
_MAP = re.compile(
    r"\s*\d\s+\d(?:,\d)*\s+(?P<dscp>\d{1,2}(?:,\d{1,2}){0,63})\s+(?P<priority>[0-7])\s*$"
)
_RULE = re.compile(r"\s*[-=]{3,}(?:\s+[-=]{3,})*\s*$")
_CLASS = re.compile(
    r"\s*(?:Type qos )?class-map (?:type qos )?(?:match-(?:any|all) )?"
    r"(?P<name>[\w.-]{1,60})\s*$"
)
_MATCH = re.compile(r"\s*match dscp (?P<dscp>\d{1,2}(?:[-,]\d{1,2}){0,63})\s*$")
_TRUSTED = {"cos": "pcp", "dscp": "dscp", "untrusted": "none"}


@dataclass(slots=True)
class _Reader:
    """Remembers the port, the table and the class that were named last."""

    source: Source
    port: str = ""
    mapping: bool = False
    name: str = ""
    command: str = ""

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return the facts of a line."""
        evidence = self.source.evidence(text, number)
        if self.source.command != self.command:
            self.command, self.port, self.mapping = self.source.command, "", False
        port, class_ = _PORT.match(text), _CLASS.match(text)
        if port or class_:
            self.port = port["port"] if port else self.port
            self.name = class_["name"] if class_ else self.name
            return READ if class_ else None
        if _MAP_HEAD.match(text):
            self.mapping = True
            return READ
        return self._sorted(text, evidence) or (READ if _REST.match(text) else self._left(text))

    def end(self) -> Iterable[Fact]:
        """Forget what was named."""
        self.port, self.mapping, self.name = "", False, ""
        return READ

    def _left(self, text: str) -> Sequence[Fact] | None:
        return READ if self.mapping and _RULE.match(text) else None

    def _sorted(self, text: str, evidence: Evidence) -> Sequence[Fact] | None:
        host = self.source.host
        trust, lossless = _TRUST.match(text), _LOSSLESS.match(text)
        row = _MAP.match(text) if self.mapping else None
        match = _MATCH.match(text) if self.name else None
        if trust:
            return (TrustState(interface=self._where(), trust=_TRUSTED[trust["trust"].lower()],
                               on_switch=True, host=host, evidence=evidence),)  # fmt: skip
        if lossless:
            on = tuple(int(one) for one in lossless["priorities"].split(","))
            return (PauseSetting(interface=self._where(), priorities=on, on_switch=True,
                                 host=host, evidence=evidence),)  # fmt: skip
        if row:
            return (DscpPriority(interface=self._where(), priority=int(row["priority"]),
                                 dscp=_values(row["dscp"]), on_switch=True, host=host,
                                 evidence=evidence),)  # fmt: skip
        if match:
            return (ClassMatch(name=self.name, dscp=_values(match["dscp"]), host=host,
                               evidence=evidence),)  # fmt: skip
        return None

    def _where(self) -> str:
        asked = _ASKED.search(self.source.command)
        return self.port or (asked["port"] if asked else "")


def _values(text: str) -> tuple[int, ...]:
    """Return the numbers of a list that may hold ranges.

    >>> _values("8-10,26")
    (8, 9, 10, 26)
    """
    found: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return tuple(found)


switch_qos = Parser(
    tool="how switches sort packets",
    marks=("Trust Mode", "pfc-priority", "switch-prio", "class-map", "match dscp"),
    reader=_Reader,
    rank=45,
    longest=400,
)
