"""SONiC's smaller tables of ports: descriptions, flaps, transceivers, lossless priorities."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from weft.observe.facts.adapters import CableEvent
from weft.observe.facts.base import Evidence, Fact
from weft.observe.facts.interfaces import Counter, Interface
from weft.observe.facts.service_quality import PauseSetting
from weft.observe.parser import READ, Parser, Source

_Match = re.Match[str]
_RULE = re.compile(r"\s*-{2,}(?:\s+-{2,}){1,8}\s*$")
_PORT = r"\s*(?P<port>Ethernet\d{1,4})\s+"
_SOUND = {"OK", "Unplugged", "N/A"}


def _described(row: _Match, source: Source, evidence: Evidence) -> Fact:
    """State a port; one with a description and no link waits for somebody."""
    allowed, up = row["admin"] == "up", row["oper"] == "up"
    named = row["text"] not in {"N/A", "-"}
    return Interface(
        interface=row["port"], up=up, enabled=allowed, kind="switch port",
        reason="no link" if allowed and named and not up else "",
        host=source.host, evidence=evidence,
    )  # fmt: skip


def _flapped(row: _Match, source: Source, evidence: Evidence) -> Fact:
    return Counter(where=row["port"], name="link_flaps", value=int(row["count"]),
                   on_switch=True, host=source.host, evidence=evidence)  # fmt: skip


def _faulty(row: _Match, source: Source, evidence: Evidence) -> Fact | None:
    if row["error"] in _SOUND:
        return None
    return CableEvent(device=row["port"], module=None, event=f"error: {row['error'].lower()}",
                      host=source.host, evidence=evidence)  # fmt: skip


def _lossless(row: _Match, source: Source, evidence: Evidence) -> Fact:
    priorities = tuple(int(one) for one in row["priorities"].split(",") if one.isdigit())
    return PauseSetting(interface=row["port"], priorities=priorities, on_switch=True,
                        host=source.host, evidence=evidence)  # fmt: skip


_Row = Callable[[_Match, Source, Evidence], Fact | None]
_TABLES: tuple[tuple[re.Pattern[str], re.Pattern[str], _Row], ...] = (
    (
        re.compile(r"\s*Interface\s+Oper\s+Admin\s+Alias\s+Description"),
        re.compile(
            rf"{_PORT}(?P<oper>up|down)\s+(?P<admin>up|down)\s+\S+\s+(?P<text>\S.*?)\s*$"
        ),
        _described,
    ),
    (
        re.compile(r"\s*Interface\s+(?:Flap Count\b|Last Link Down\s+Flap)"),
        re.compile(
            rf"{_PORT}(?:[A-Z][a-z]{{2}} [A-Z][a-z]{{2}} [ \d]\d [\d:]{{8}} \d{{4}}\s{{1,40}}|"
            r"Never\s{1,40})?(?P<count>\d{1,9})(?=\s|$)"
        ),
        _flapped,
    ),
    (
        re.compile(r"\s*Port\s+Error Status\s*$"),
        re.compile(rf"{_PORT}(?P<error>[A-Za-z][\w ,()./-]{{1,120}}?)\s*$"),
        _faulty,
    ),
    (
        re.compile(r"\s*Interface\s+Lossless priorities\s*$"),
        re.compile(rf"{_PORT}(?P<priorities>[0-7](?:,[0-7])*|N/A|none)\s*$"),
        _lossless,
    ),
)


@dataclass(slots=True)
class _Reader:
    """Reads the rows of the table whose heading was seen last."""

    source: Source
    table: int = -1

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return the fact of a row."""
        for place, (heading, _, _) in enumerate(_TABLES):
            if heading.match(text):
                self.table = place
                return READ
        if self.table < 0:
            return None
        _, expression, build = _TABLES[self.table]
        row = expression.match(text)
        if not row:
            return READ if _RULE.match(text) else None
        fact = build(row, self.source, self.source.evidence(text, number))
        return (fact,) if fact is not None else READ

    def end(self) -> Iterable[Fact]:
        """Forget the heading."""
        self.table = -1
        return READ


sonic_tables = Parser(
    tool="SONiC tables",
    marks=(
        "Flap Count",
        "Error Status",
        "Lossless priorities",
        "Alias          Desc",
        "Description\n",
    ),
    reader=_Reader,
    rank=34,
    longest=1024,
)
