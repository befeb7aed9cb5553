"""``partitions.conf`` of OpenSM: partitions, their flags and their members."""

from collections.abc import Iterator

import re2

from weft.lint.document import whole
from weft.lint.facts import Fact, Partition
from weft.lint.flaws import flaw
from weft.lint.reader import File, Reader

_DEFINITION = re2.compile(r"(?s)([\w.-]*)\s*(?:=\s*(0x[0-9a-fA-F]+|\d+))?\s*(,[^:]*)?:(.*)")
_DEFAULT_KEY = 0x7FFF
_MEMBERS = {"full": True, "limited": False}


def _read(file: File) -> Iterator[Fact]:
    held, first = "", 0
    for number, line in file.lines():
        text = line.partition("#")[0].strip()
        if not text:
            continue
        first = first or number
        held += f" {text}"
        while ";" in held:
            definition, _, held = held.partition(";")
            yield from _partition(file, definition.strip(), first)
            first = number if held.strip() else 0
    if held.strip():
        yield flaw(file.at(first), "partition_end")


def _partition(file: File, text: str, line: int) -> Iterator[Fact]:
    match = _DEFINITION.fullmatch(text)
    if match is None:
        yield flaw(file.at(line), "partition_form")
        return
    flags = dict(_flag(part) for part in (match[3] or "").split(",") if part.strip())
    default = match[1] == "Default"
    yield Partition(
        at=file.at(line),
        name=match[1],
        key=whole(match[2]) or 0 if match[2] else _DEFAULT_KEY if default else 0,
        ipoib="ipoib" in flags,
        mtu_code=whole(flags.get("mtu", "")),
        service_level=whole(flags.get("sl", "")),
        members=tuple(_member(part) for part in match[4].split(",") if part.strip()),
        full_by_default=flags.get("defmember", "limited") == "full",
        at_index_0="indx0" in flags,
    )


def _flag(text: str) -> tuple[str, str]:
    name, _, value = text.partition("=")
    return name.strip(), value.strip()


def _member(text: str) -> tuple[str, bool | None]:
    who, _, kind = text.partition("=")
    return who.strip(), _MEMBERS.get(kind.strip())


partitions = Reader(title="partitions.conf", read=_read)
