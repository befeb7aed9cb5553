"""``/etc/frr/daemons``: which daemons of FRR are started."""

from collections.abc import Iterator
from typing import Final

import re2

from weft.lint.facts import Fact, Option
from weft.lint.reader import File, Reader

_ROW: Final = re2.compile(r"(\w+)=[\"']?(yes|no)[\"']?")


def _claims(file: File) -> bool:
    return file.text.stem == "daemons" and "bgpd=" in file.head


def _read(file: File) -> Iterator[Fact]:
    for number, line in file.lines():
        row = _ROW.match(line)
        if row:
            yield Option(at=file.at(number), program="frr", name=row[1], value=row[2])


frr_daemons = Reader(title="daemons of FRR", claims=_claims, read=_read)
