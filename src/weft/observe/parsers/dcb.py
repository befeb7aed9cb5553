"""Data centre bridging of a host: ``dcb`` of iproute2 and ``lldptool``."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from weft.observe.facts import DscpPriority, Fact, PauseSetting
from weft.observe.parser import READ, Parser, Source

_PAUSED = re.compile(r"\s*prio-pfc (?P<list>(?:\d:(?:on|off) ?){1,8})")
_ON = re.compile(r"(\d):on")
_DSCP = re.compile(r"\s*dscp-prio (?P<list>(?:[A-Za-z0-9]{1,4}:\d ?){1,64})")
_PAIR = re.compile(r"(\w+):(\d)")
_PAUSE_TLV = re.compile(r"\s*PFC TLV\b")
_ENABLED = re.compile(r"\s*PFC enabled: {1,8}(?P<list>none|\d[\d ,]{0,30})$")
_MORE = re.compile(
    r"\s*(?:pfc-cap|willing|Willing|MACsec Bypass|PFC capable|enableTx|prio-(?:tc|buffer)|"
    r"tc-(?:bw|tsa|maxrate)|default-prio|ethtype-prio|ets-cap)\b"
)
_INTERFACE = re.compile(r"(?<!\S)(?:dev|-i|-t?i) (?P<name>[a-z][\w.-]{1,30})")
_CODES = {"EF": 46}
_CODES |= {f"CS{group}": 8 * group for group in range(8)}
_CODES |= {f"AF{c}{d}": 8 * c + 2 * d for c in range(1, 5) for d in range(1, 4)}
"""Names of DSCP values [RFC 2474, 2597, 3246]."""


@dataclass(slots=True)
class _Reader:
    """Reads the answers about the interface that the command named."""

    source: Source
    inside: bool = False

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return the facts of a line."""
        evidence = self.source.evidence(text, number)
        paused, enabled = _PAUSED.match(text), _ENABLED.match(text) if self.inside else None
        if paused or enabled:
            listed = paused["list"] if paused else enabled["list"] if enabled else ""
            numbers = _ON.findall(listed) if paused else re.findall(r"\d", listed)
            return (
                PauseSetting(
                    interface=self._interface(), priorities=tuple(int(one) for one in numbers),
                    host=self.source.host, evidence=evidence,
                ),
            )  # fmt: skip
        coded = _DSCP.match(text)
        if coded:
            return tuple(
                DscpPriority(interface=self._interface(), priority=int(priority), dscp=(dscp,),
                             host=self.source.host, evidence=evidence)
                for name, priority in _PAIR.findall(coded["list"])
                if (dscp := _dscp(name)) is not None
            )  # fmt: skip
        if _PAUSE_TLV.match(text):
            self.inside = True
            return READ
        asked = self.source.command.startswith(("dcb", "lldptool", "sudo dcb", "sudo lldptool"))
        return READ if (self.inside or asked) and _MORE.match(text) else None

    def end(self) -> Iterable[Fact]:
        """Keep nothing to the end."""
        self.inside = False
        return READ

    def _interface(self) -> str:
        named = _INTERFACE.search(self.source.command)
        return named["name"] if named else ""


def _dscp(name: str) -> int | None:
    """Return the value of a code point that is written by name or number.

    >>> _dscp("AF31"), _dscp("26"), _dscp("EF"), _dscp("x")
    (26, 26, 46, None)
    """
    return int(name) if name.isdigit() else _CODES.get(name.upper())


dcb = Parser(
    tool="dcb and lldptool",
    marks=("prio-pfc ", "dscp-prio ", "PFC TLV", "PFC enabled:"),
    reader=_Reader,
    rank=41,
)
