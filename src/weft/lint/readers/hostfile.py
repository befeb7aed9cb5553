"""Lists of hosts for mpirun: a host a line, with its slots."""

from collections.abc import Iterator
from typing import Final

import re2

from weft.lint.facts import Fact, Slots
from weft.lint.reader import File, Reader

_ROW: Final = re2.compile(r"([A-Za-z0-9][\w.-]*)\s+slots\s*=\s*(\d{1,6})(\s.*)?")


def _claims(file: File) -> bool:
    first = next((row for _, row in file.lines() if row.strip() and row[0] != "#"), "")
    return _ROW.fullmatch(first.strip()) is not None


def _read(file: File) -> Iterator[Fact]:
    for number, line in file.lines():
        row = _ROW.fullmatch(line.strip())
        if row:
            yield Slots(at=file.at(number), device=row[1], count=int(row[2]))


hostfile = Reader(title="hosts of mpirun", claims=_claims, read=_read)
