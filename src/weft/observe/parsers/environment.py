"""Variables of NCCL as ``env``, a script or a container's description print them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import re2

from weft.observe.facts.base import Fact
from weft.observe.facts.programs import Setting
from weft.observe.parser import Parser, Source

_LINE: Final = re2.compile(
    r"^\s*(?:export |set |-x |--env |-e |- )?\"?"
    r"(?P<name>(?:NCCL|RCCL|FI|UCX)_\w+)=(?P<value>\S*)"
)


@dataclass(slots=True)
class _Reader:
    source: Source

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return the variable that a line sets."""
        found = _LINE.match(text)
        if found is None:
            return None
        value = found["value"].strip("\"'")
        evidence = self.source.evidence(text, number)
        return (Setting(name=found["name"], value=value, evidence=evidence),)

    def end(self) -> Iterable[Fact]:
        """Return nothing: each line stands alone."""
        return ()


environment = Parser(
    tool="environment", marks=("NCCL_", "RCCL_", "FI_", "UCX_"), reader=_Reader, rank=90
)
