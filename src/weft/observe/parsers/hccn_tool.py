"""``hccn_tool``: the RoCE port of each Ascend processor, one processor a call."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from weft.observe.facts.adapters import AdapterPort
from weft.observe.facts.base import Fact, LinkLayer, PortState
from weft.observe.parser import READ, Parser, Source

_LINK = re.compile(r"\s*link status: (?P<state>UP|DOWN)\s*$")
_ASKED = re.compile(r"\bhccn_tool -i (?P<number>\d{1,3})\b")
_LOOP = re.compile(r"\bfor \w+ in\b.*\bhccn_tool -i")


@dataclass(slots=True)
class _Reader:
    """Counts the answers of a loop over the processors."""

    source: Source
    command: str = ""
    answers: int = 0

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return the port of a processor."""
        found = _LINK.match(text)
        if not found or "hccn" not in self.source.command + self.source.file:
            return None  # other tools tell of links in the same words
        if self.source.command != self.command:
            self.command, self.answers = self.source.command, 0
        asked = None if _LOOP.search(self.command) else _ASKED.search(self.command)
        processor = int(asked["number"]) if asked else self.answers
        self.answers += 1
        return (
            AdapterPort(
                adapter=f"npu{processor}",
                state=PortState.ACTIVE if found["state"] == "UP" else PortState.DOWN,
                link_layer=LinkLayer.ETHERNET, host=self.source.host,
                evidence=self.source.evidence(text, number),
            ),
        )  # fmt: skip

    def end(self) -> Iterable[Fact]:
        """Keep nothing to the end."""
        return READ


hccn_tool = Parser(tool="hccn_tool", marks=("link status: ",), reader=_Reader, rank=36)
