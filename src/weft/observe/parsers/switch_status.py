"""Ports of Ethernet switches: tables of their states, and what the switch's log says of them.

SONiC ``show interfaces status``, EOS and NX-OS ``show interface(s) status``; syslog of EOS,
NX-OS, Junos and Cumulus. Ports that nobody allowed to be up say nothing by being down.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from weft.observe.facts.base import Evidence, Fact
from weft.observe.facts.interfaces import Interface, LinkEvent
from weft.observe.moments import moment
from weft.observe.parser import READ, Parser, Source
from weft.observe.parsers._values import integer

_SONIC_HEAD = re.compile(r"\s*Interface\s+Lanes\s+Speed\s+MTU\b.*\bOper\s+Admin")
_RULE = re.compile(r"\s*-{2,}(?:\s+-{2,}){3,}\s*$")
_SONIC = re.compile(
    r"\s*(?P<port>Ethernet\d{1,4})\s+[\d,]+\s+(?P<speed>\S+)\s+(?P<mtu>\d{3,5})\s.*?\s"
    r"(?P<oper>up|down)\s+(?P<admin>up|down)\s+(?P<media>\S.*?)\s*$"
)
_TABLE_HEAD = re.compile(r"\s*(?:Port|Interface)\s+Name\s+Status\s+Vlan\b")
_STATUS = re.compile(
    r"\s*(?P<port>(?:Et|Eth|Ethernet)\d+(?:/\d+)*)\s+(?P<name>\S.{0,40}?)?\s*\b(?P<state>"
    r"connected|notconnec\w*|err-?disabled?|errDisab\w*|disabled|sfpAbsent|xcvrAbsen\w*|"
    r"linkFlapE\w*|faulty|inactive|noOperMem|down|suspnd\w*)\s+(?P<rest>\S.*)$"
)
_PORT = r"(?P<port>(?:Ethernet|Eth|Et|et-|xe-|swp|Port-Channel|port-channel)[\w/:.-]{1,24})"
_EVENTS = (
    re.compile(rf"%LINEPROTO-\d-UPDOWN: Line protocol on Interface {_PORT}.{{0,120}}?changed "
               r"state to (?P<state>up|down)"),
    re.compile(rf"%ETHPORT-\d-IF_(?P<state>UP|DOWN)\w*: Interface {_PORT} is (?:up|down)"),
    re.compile(r"SNMP_TRAP_LINK_(?P<state>UP|DOWN): .{0,120}?ifName " + _PORT),
    re.compile(rf"(?:switchd|kernel|ifplugd)\S*: .{{0,60}}?{_PORT}: [Ll]ink (?:is )?"
               r"(?P<state>up|down)"),
)  # fmt: skip
_DISABLED = re.compile(
    rf"(?:%ETH-\d-ERRDISABLE: (?P<why>[\w -]{{2,40}}?) error detected on {_PORT}|"
    r"%ETHPORT-\d-IF_DOWN_(?P<why2>ERROR_DISABLED)\w*: Interface "
    r"(?P<port2>Ethernet[\d/]+) is down)"
)
_HOST = re.compile(r"\d\d:\d\d:\d\d\S* (?P<host>[\w.-]{1,80}) ")
_FREE = ("notconnec", "disabled", "sfpAbsent", "xcvrAbsen", "inactive", "down", "noOperMem")


@dataclass(slots=True)
class _Reader:
    """Reads rows under the heading that was seen last, and lines of the log."""

    source: Source
    table: str = ""
    seen: set[str] = field(default_factory=set)

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return the facts of a line."""
        evidence = self.source.evidence(text, number)
        if _SONIC_HEAD.match(text):
            self.table = "sonic"
            return READ
        if _TABLE_HEAD.match(text):
            self.table = "status"
            return READ
        if self.table and _RULE.match(text):
            return READ
        row = _SONIC.match(text) if self.table == "sonic" else None
        if row:
            return self._sonic(row, evidence)
        status = _STATUS.match(text) if self.table == "status" else None
        if status:
            return self._status(status, evidence)
        return self._logged(text, evidence) if "%" in text or "ink" in text.lower() else None

    def end(self) -> Iterable[Fact]:
        """Forget the heading."""
        self.table = ""
        return READ

    def _sonic(self, row: "re.Match[str]", evidence: Evidence) -> Sequence[Fact]:
        allowed, cabled = row["admin"] == "up", not row["media"].startswith("N/A")
        return (
            Interface(
                interface=row["port"],
                up=row["oper"] == "up",
                enabled=allowed,
                mtu_bytes=integer(row["mtu"]),
                kind="switch port",
                reason="no link" if allowed and cabled and row["oper"] == "down" else "",
                host=self.source.host,
                evidence=evidence,
            ),
        )

    def _status(self, row: "re.Match[str]", evidence: Evidence) -> Sequence[Fact]:
        state, named = row["state"], bool(row["name"] and row["name"].strip("- "))
        free = state.startswith(_FREE)
        waits = state.startswith("notconnec") and named
        return (
            Interface(
                interface=row["port"],
                up=state == "connected",
                enabled=state not in {"disabled", "down"},
                kind="switch port",
                reason="" if state == "connected" or (free and not waits) else state,
                host=self.source.host,
                evidence=evidence,
            ),
        )

    def _logged(self, text: str, evidence: Evidence) -> Sequence[Fact] | None:
        named = _HOST.search(text[:120])
        host = named["host"] if named else self.source.host
        stopped = _DISABLED.search(text)
        if stopped:
            port = stopped["port"] or stopped["port2"]
            why = (stopped["why"] or stopped["why2"]).lower().replace("_", " ")
            return (
                Interface(
                    interface=port.strip(".:,"), up=False, enabled=True, kind="switch port",
                    reason=f"disabled by the switch: {why}", host=host, evidence=evidence,
                ),
            )  # fmt: skip
        for expression in _EVENTS:
            found = expression.search(text)
            if found:
                up = found["state"].lower() == "up"
                return (
                    LinkEvent(
                        interface=found["port"].strip(".:,"), up=up, host=host,
                        moment=moment(text), evidence=evidence,
                    ),
                )  # fmt: skip
        return None


switch_status = Parser(
    tool="states of switch ports",
    marks=(
        "Oper    Admin",
        "Status ",
        "%LINEPROTO-",
        "%ETHPORT-",
        "%ETH-",
        "SNMP_TRAP_LINK_",
        "swp",
    ),
    reader=_Reader,
    rank=35,
    longest=1024,
)
