"""Which containers run where: ``podman ps``, ``docker ps``, chosen columns of ``kubectl get``.

Of a container engine all that it lists are on the host that was asked. Columns that somebody
chose are known by their heading.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from weft.observe.facts.base import Evidence, Fact
from weft.observe.facts.pods import PodState
from weft.observe.parser import READ, Parser, Source

_ENGINE = re.compile(r"\b(?P<engine>podman|docker|nerdctl) (?:container )?(?:ps|ls)\b")
_FORMAT = re.compile(
    r"--format[ =](?:'(?P<quoted>[^']+)'|\"(?P<double>[^\"]+)\"|(?P<bare>\S+))"
)
_FIELD = re.compile(r"\{\{\s*\.(?P<name>\w+)\s*\}\}")
_UP = re.compile(r"\bUp (?:\d+|About|Less|a|an)\b")
_ID = re.compile(r"[0-9a-f]{12}\s")
_NAME = re.compile(r"[a-zA-Z0-9][\w.-]{0,120}$")
_HEAD = re.compile(r"CONTAINER ID\s+IMAGE\s")
_COLUMNS = re.compile(r"(?=.*\bNODE\b)(?:POD|NAME)(?:\s+[A-Z][A-Z_-]{1,30}){1,8}\s*$")
_NAMED = re.compile(
    r"\s*(?P<pod>[a-z0-9][\w.-]{0,120})[:, ]\s*node(?:Name)?[=:]\s?(?P<node>[a-z0-9][\w.-]*)"
)
_CHOSEN = re.compile(r"\b(?:kubectl|oc) get po(?:d|ds)?\b")


@dataclass(slots=True)
class _Reader:
    """Reads rows by the command, or under a heading of columns."""

    source: Source
    columns: list[str] = field(default_factory=list)

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return the container or pod of a row."""
        evidence = self.source.evidence(text, number)
        command = self.source.command
        if _ENGINE.search(command):
            return READ if _HEAD.match(text) else self._container(text, command, evidence)
        if _COLUMNS.match(text):
            self.columns = text.split()
            return READ
        named = _NAMED.match(text)
        if named and _CHOSEN.search(command):
            return (_running(named["pod"], named["node"], evidence),)
        cells = text.split()
        if not self.columns or len(cells) != len(self.columns) or not _CHOSEN.search(command):
            return None
        row = dict(zip(self.columns, cells, strict=True))
        pod = row.get("POD") or row.get("NAME", "")
        return (_running(pod, row["NODE"], evidence),) if _NAME.match(pod) else None

    def end(self) -> Iterable[Fact]:
        """Forget the heading."""
        self.columns = []
        return READ

    def _container(self, text: str, command: str, evidence: Evidence) -> Sequence[Fact] | None:
        """Read a row of a container that runs: its name is the last cell, or as is told."""
        cells = text.split()
        if not cells or not _UP.search(text):
            return None
        told = _FORMAT.search(command)
        form = next(filter(None, told.groups()), "") if told else ""
        fields = _FIELD.findall(form)
        if told and fields[:1] == ["Names"]:
            name = cells[0]
        elif (told and fields[-1:] == ["Names"]) or (not told and _ID.match(text)):
            name = cells[-1]
        else:
            return None
        host = self.source.host or f"the host of {self.source.file}"
        return (_running(name, host, evidence),) if _NAME.match(name) else None


def _running(name: str, node: str, evidence: Evidence) -> PodState:
    return PodState(pod=name, phase="Running", node=node, evidence=evidence)


containers = Parser(
    tool="containers",
    marks=("podman ", "docker ", "nerdctl ", "NODE", "node=", "nodeName="),
    reader=_Reader,
    rank=33,
    longest=1024,
)
