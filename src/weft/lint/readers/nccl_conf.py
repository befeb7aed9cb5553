"""``/etc/nccl.conf`` and ``~/.nccl.conf``: NAME=value, read by NCCL as it stands."""

from collections.abc import Iterator

import re2

from weft.lint.facts import Fact, Variable
from weft.lint.flaws import flaw
from weft.lint.reader import File, Reader

_LONGEST = 4095
_NAME = re2.compile(r"[A-Z][A-Z0-9_]*")


def _read(file: File) -> Iterator[Fact]:
    for number, line in file.lines():
        if not line.strip() or line.startswith("#"):
            continue
        name, equals, value = line.partition("=")
        wrong = _wrong(line, name, equals, value)
        if wrong:
            yield flaw(file.at(number), "nccl_conf", wrong=wrong)
        name = name.strip().removeprefix("export ").strip()
        if equals and _NAME.fullmatch(name):
            plain = value.strip().strip("\"'")
            yield Variable(at=file.at(number), name=name, value=plain, everywhere=True)


def _wrong(line: str, name: str, equals: str, value: str) -> str:
    if len(line) > _LONGEST:
        return f"the line has {len(line)} characters, and NCCL reads {_LONGEST}"
    if line.lstrip().startswith("#"):
        return "a comment begins in the first column only; NCCL takes this for a setting"
    if not equals:
        return "NCCL finds no = in this line and leaves it out"
    if name.startswith("export "):
        return "export belongs to a shell; NCCL takes it for a part of the name"
    spaced = name != name.strip() or value != value.strip()
    if spaced:
        return "NCCL takes spaces beside = for a part of the name or of the value"
    return "NCCL takes quotes for a part of the value" if value[:1] in {'"', "'"} else ""


nccl_conf = Reader(title="nccl.conf", read=_read)
