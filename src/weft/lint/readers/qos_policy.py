"""``qos-policy.conf`` of OpenSM: who gets which service level."""

from collections.abc import Iterator

import re2

from weft.lint.facts import Fact, ServiceLevel
from weft.lint.flaws import flaw
from weft.lint.reader import File, Reader

_ROW = re2.compile(r"\s*[\w-][\w ,.x-]*?\s*:\s*(\d+)\s*")
_LEVEL = re2.compile(r"\s*sl\s*:\s*(\d+)\s*")


def _read(file: File) -> Iterator[Fact]:
    inside, began = "", 0
    for number, line in file.lines():
        text = line.partition("#")[0]
        word = text.strip()
        if word.startswith(("qos-", "end-qos-")):
            inside, began = "" if word.startswith("end") else word, number
            continue
        row = _ROW.fullmatch(text) if inside == "qos-ulps" else None
        level = _LEVEL.fullmatch(text) if inside == "qos-levels" else None
        if row:
            yield ServiceLevel(at=file.at(number), level=int(row[1]))
        elif level:
            yield ServiceLevel(at=file.at(number), level=int(level[1]))
    if inside:
        yield flaw(file.at(began), "qos_section", inside=inside)


qos_policy = Reader(title="QoS policy of OpenSM", read=_read)
