"""Partition keys: ``smpquery pkeys`` and the kernel's ``pkeys`` files."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from weft.observe.facts.adapters import PartitionKey
from weft.observe.facts.base import Fact
from weft.observe.parser import READ, Parser, Source

_FULL = 0x8000
_FILE = re.compile(
    r"\s*(?:/sys/class/infiniband/(?P<adapter>[\w.-]+)/ports/(?P<port>\d+)/)?pkeys/"
    r"(?P<index>\d+)"
    r"\s*(?::|=|->|→|\s)\s*(?P<key>0x[0-9a-fA-F]{1,4})"
)
_ROW = re.compile(r"\s*(?P<first>\d{1,4}):\s*(?P<keys>(?:0x[0-9a-fA-F]{4}\s*){1,8})$")
_KEY_OF = re.compile(
    r"\s*+(?:pkey|P_Key|PKey)\s*+\[?(?P<index>\d++)\]?\s*+[:=]?\s*+(?P<key>0x[0-9a-fA-F]{1,4})",
    re.IGNORECASE,
)
_UNIQ = re.compile(r"pkeys/\*.*\buniq -c")
_SHOWN = re.compile(
    r"\bcat (?:\S*?infiniband/(?P<adapter>[\w.-]+)/ports/(?P<port>\d+)/|\S*?/)?"
    r"pkeys/(?:\*|(?P<index>\d+)\b|\[0|\{0)"
)
"""A command that shows keys without their indices, from that of index 0 on."""
_ALONE = re.compile(r"\s*(?P<key>0x[0-9a-fA-F]{4})\s*$")
_COUNTED = re.compile(r"\s*\d{1,4} (?P<key>0x[0-9a-fA-F]{4})\s*$")
_COUNT = re.compile(r"\s*\d+ pkeys capacity")


@dataclass(slots=True)
class _Reader:
    """Reads one key or one row of keys a line; key 0 means an unused entry."""

    source: Source
    kinds: list[tuple[int, str, int]] = field(default_factory=list)
    shown: int = 0
    asked: str = ""

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return the keys of a line."""
        found = _FILE.match(text) or _KEY_OF.match(text)
        if found:
            groups = found.groupdict()
            return self._keys(
                int(found["index"]), [found["key"]], groups.get("adapter") or "",
                groups.get("port"), (text, number),
            )  # fmt: skip
        counted = _COUNTED.match(text) if _UNIQ.search(self.source.command) else None
        if counted:
            key = int(counted["key"], 16)
            self.kinds.append((key, text, number)) if key else None
            return READ
        shown = None if counted else _SHOWN.search(self.source.command)
        alone = _ALONE.match(text) if shown else None
        if shown and alone:
            return self._next(shown, alone["key"], (text, number))
        row = _ROW.match(text)
        if row:
            return self._keys(int(row["first"]), row["keys"].split(), "", None, (text, number))
        return READ if _COUNT.match(text) else None

    def _next(self, shown: "re.Match[str]", key: str, line: tuple[str, int]) -> Sequence[Fact]:
        """State the next key of a table, or one index again: of the next port or host."""
        if self.asked != self.source.command:
            self.asked, self.shown = self.source.command, 0
        first = int(shown["index"]) if shown["index"] else self.shown
        self.shown += 1
        return self._keys(first, [key], shown["adapter"] or "", shown["port"], line)

    def end(self) -> Iterable[Fact]:
        """State the one key that a table holds, where its sorts of keys were counted."""
        kinds, self.kinds = self.kinds, []
        if len(kinds) != 1:
            return READ
        key, text, number = kinds[0]
        return self._keys(0, [hex(key)], "", None, (text, number))

    def _keys(
        self, first: int, keys: list[str], adapter: str, port: str | None, line: tuple[str, int]
    ) -> Sequence[Fact]:
        values = [(first + place, int(key, 16)) for place, key in enumerate(keys)]
        return tuple(
            PartitionKey(
                index=index,
                key=key,
                full=bool(key & _FULL),
                adapter=adapter,
                port=int(port) if port else None,
                host=self.source.host,
                evidence=self.source.evidence(*line),
            )
            for index, key in values
            if key
        )


pkeys = Parser(
    tool="pkeys",
    marks=("pkeys", "pkey", "P_Key", "PKey", ": 0xffff 0x", ": 0x7fff 0x"),
    reader=_Reader,
    rank=34,
)
