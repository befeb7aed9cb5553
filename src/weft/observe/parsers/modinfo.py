"""``modinfo MODULE``: which modules one was built upon."""

import re
from collections.abc import Sequence

from weft.observe.facts.base import Fact
from weft.observe.facts.hosts import ModuleBuilt
from weft.observe.parser import READ, Parser
from weft.observe.patterns import Line, nothing, pattern, table

_ASKED = re.compile(r"\bmodinfo (?:-\w+ (?:\w+ )?)*(?P<name>[\w-]{2,56})")


def _depends(found: re.Match[str], line: Line) -> Sequence[Fact]:
    asked = _ASKED.search(line.source.command)
    if asked is None:
        return READ
    return (
        ModuleBuilt(
            name=asked["name"].replace("-", "_"),
            upon=tuple(one for one in found["upon"].split(",") if one),
            host=line.host,
            evidence=line.evidence,
        ),
    )


modinfo = Parser(
    tool="modinfo",
    marks=("depends:", "vermagic:"),
    reader=table(
        pattern("depends:", r"depends:[ \t]+(?P<upon>[\w,-]*)\s*$", _depends),
        pattern("vermagic:", r"vermagic:[ \t]+\S", nothing),
        pattern("srcversion:", r"srcversion:[ \t]+\S", nothing),
    ),
    rank=41,
    longest=400,
)
