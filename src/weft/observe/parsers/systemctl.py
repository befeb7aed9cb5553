"""``systemctl status``: whether a service runs."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from weft.observe.facts.base import Fact
from weft.observe.facts.hosts import ServiceState
from weft.observe.parser import READ, Parser, Source

_UNIT = re.compile(r"\W{0,8}(?P<name>[\w@.-]{1,80})\.service(?: - .*)?$")
_ACTIVE = re.compile(r"\s{1,12}Active: (?P<state>\w+)(?P<text>.*)")
_ABSENT = re.compile(r"Unit (?P<name>[\w@.-]{1,80}?)(?:\.service)? could not be found")
_FAILED = re.compile(r"Job for (?P<name>[\w@.-]{1,80}?)(?:\.service)? failed because")
_UNKNOWN = re.compile(r"(?P<name>[\w@.-]{1,80}): unrecognized service\s*$")
_JOURNAL = re.compile(
    r"[A-Z][a-z]{2} [ \d]\d [\d:]{8} \S{1,80} "
    r"(?:systemd\[1\]: (?:Start|Stopp|Reload)(?:ing|ed)\b|"
    r"[\w@.-]{1,80}\[\d+\]: [Ss]tarting\W{1,4}(?:OK|done)\W*$)"
)
_SEE = re.compile(r'See "systemctl status ')
_DETAIL = re.compile(
    r"\s{1,12}(?:Loaded|Main PID|Process|Tasks|Memory|CPU|CGroup|Docs|Status|Drop-In|"
    r"TriggeredBy|Duration|Invocation|IO|IP|Condition):? "
)


@dataclass(slots=True)
class _Reader:
    """Remembers the unit whose state is told below it."""

    source: Source
    unit: str = ""

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return the state of a service."""
        unit = _UNIT.match(text)
        if unit:
            self.unit = unit["name"]
            return READ
        failed = _FAILED.match(text)
        if failed:
            return (self._state(failed["name"], "failed", text, number),)
        if _SEE.match(text):
            return READ
        absent = _ABSENT.match(text) or _UNKNOWN.match(text)
        if absent:
            return (self._state(absent["name"], "absent", text, number),)
        active = _ACTIVE.match(text) if self.unit else None
        if active:
            return (self._state(self.unit, active["state"], text, number),)
        detail = _DETAIL.match(text) or _DETAIL.match(f" {text}") or _JOURNAL.match(text)
        return READ if self.unit and detail else None

    def end(self) -> Iterable[Fact]:
        """Keep nothing to the end."""
        return READ

    def _state(self, unit: str, state: str, text: str, number: int) -> ServiceState:
        return ServiceState(
            service=unit,
            state=state,
            text=text.strip()[:200],
            host=self.source.host,
            evidence=self.source.evidence(text, number),
        )


systemctl = Parser(
    tool="systemctl",
    marks=(".service", "Active: ", "could not be found", "unrecognized service"),
    reader=_Reader,
    rank=53,
)
