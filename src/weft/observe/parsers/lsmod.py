"""``lsmod``: the loaded kernel modules, and those somebody looked for in vain."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from weft.observe.facts import Fact, KernelModule, ModuleAbsent
from weft.observe.parser import READ, Parser, Source

_ROW = re.compile(
    r"(?P<name>[A-Za-z]\w{1,55})\s+(?P<size>\d{3,9})\s+(?P<count>-?\d{1,6})(?:\s+"
    r"(?P<users>[\w,-]+))?\s*$"
)
_HEADING = re.compile(r"Module\s+Size\s+Used by")
_SOUGHT = re.compile(r"lsmod\s*\|\s*e?grep\s+(?:-\w+\s+)*[\"']?(?P<name>[\w-]+)[\"']?\s*$")


@dataclass(slots=True)
class _Reader:
    """Reads the list, and notes a search that found nothing."""

    source: Source
    sought: str = ""
    asked: tuple[str, int] = ("", 0)

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return the module of a row."""
        search = _SOUGHT.search(text[-200:])
        if search:
            missing = tuple(self.end())
            self.sought, self.asked = search["name"], (text, number)
            return missing
        if _HEADING.match(text):
            return READ
        row = _ROW.match(text)
        if not row:
            return None
        users = tuple((row["users"] or "").strip(",-").split(","))
        self.sought = "" if self.sought in text else self.sought
        return (
            KernelModule(
                name=row["name"],
                used_by=tuple(user for user in users if user),
                host=self.source.host,
                evidence=self.source.evidence(text, number),
            ),
        )

    def end(self) -> Iterable[Fact]:
        """State the module that was sought and not seen."""
        sought, self.sought = self.sought, ""
        if not sought:
            return READ
        evidence = self.source.evidence(*self.asked)
        return (ModuleAbsent(name=sought, host=self.source.host, evidence=evidence),)


lsmod = Parser(
    tool="lsmod",
    marks=(
        "lsmod",
        "Used by",
        "nvidia",
        "mlx5_",
        "ib_",
        "rdma_",
        "gdrdrv",
        "nv_peer_mem",
        "peermem",
    ),
    reader=_Reader,
    rank=40,
)
