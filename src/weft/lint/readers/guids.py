"""Lists of GUIDs: the roots of a tree, one a line."""

from collections.abc import Iterator

import re2

from weft.lint.facts import Fact, Flaw, Guids
from weft.lint.reader import File, Reader

_GUID = re2.compile(r"0x[0-9a-fA-F]{1,16}")


def _claims(file: File) -> bool:
    return "guid" in file.text.stem.lower() and not file.name.endswith((".py", ".md", ".json"))


def _read(file: File) -> Iterator[Fact]:
    for number, line in file.lines():
        text = line.partition("#")[0].strip()
        if not text:
            continue
        if _GUID.fullmatch(text.split()[0]):
            yield Guids(at=file.at(number), device=file.name, values=(text.split()[0].lower(),))
        else:
            yield Flaw(
                at=file.at(number),
                rule="broken_line",
                message="is no GUID",
                fix="write one GUID a line, as 0x7cfe900303000000",
            )


guids = Reader(title="lists of GUIDs", claims=_claims, read=_read)
