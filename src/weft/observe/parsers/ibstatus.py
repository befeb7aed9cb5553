"""``ibstatus``: what the kernel's files say of each port."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from weft.observe.facts.adapters import AdapterPort
from weft.observe.facts.base import Evidence, Fact
from weft.observe.parser import READ, Parser, Source
from weft.observe.parsers._values import integer, layer, physical, rate, state

_OPENS = re.compile(r"Infiniband device '(?P<name>[^']+)' port (?P<port>\d+) status:")
_FIELD = re.compile(
    r"\s*(?P<name>default gid|base lid|sm lid|state|phys state|rate|link_layer):\s*"
    r"(?P<value>.*?)\s*$"
)


@dataclass(slots=True)
class _Reader:
    """Gathers the fields of a port."""

    source: Source
    fields: dict[str, str] = field(default_factory=dict)
    where: Evidence | None = None

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return the port that a line completes."""
        opens = _OPENS.match(text)
        if opens:
            done = tuple(self.end())
            self.where = self.source.evidence(text, number)
            self.fields = {"name": opens["name"], "port": opens["port"]}
            return done
        found = _FIELD.match(text) if self.fields else None
        if not found:
            return None
        if found["name"] == "state":
            self.where = self.source.evidence(text, number)
        self.fields[found["name"]] = found["value"]
        return READ

    def end(self) -> Iterable[Fact]:
        """State the last port."""
        fields, self.fields = self.fields, {}
        if not fields or self.where is None:
            return ()
        return (
            AdapterPort(
                adapter=fields["name"],
                port=int(fields["port"]),
                state=state(fields.get("state", "")),
                physical_state=physical(fields.get("phys state", "")),
                link_layer=layer(fields.get("link_layer", "")),
                rate_bytes_per_s=rate(fields.get("rate")),
                rate_text=fields.get("rate", ""),
                lid=integer(fields.get("base lid")),
                sm_lid=integer(fields.get("sm lid")),
                gid=fields.get("default gid", ""),
                host=self.source.host,
                evidence=self.where,
            ),
        )


ibstatus = Parser(
    tool="ibstatus",
    marks=("Infiniband device '", "default gid", "phys state:"),
    reader=_Reader,
    rank=29,
)
