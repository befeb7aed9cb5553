"""``/etc/nccl.conf`` and ``~/.nccl.conf``: NAME=value, read by NCCL as it stands."""

from collections.abc import Iterator

import re2

from weft.lint.facts import Fact, Variable
from weft.lint.flaws import flaw
from weft.lint.names import wrong_form
from weft.lint.reader import File, Reader

_LONGEST = 4095
_NAME = re2.compile(r"[A-Z][A-Z0-9_]*")


def _read(file: File) -> Iterator[Fact]:
    for number, line in file.lines():
        if not line.strip() or line.startswith("#"):
            continue
        name, equals, value = line.partition("=")
        wrong = f"the line has {len(line)} characters, and NCCL reads {_LONGEST}"
        wrong = wrong if len(line) > _LONGEST else wrong_form(line, "conf")
        if wrong:
            yield flaw(file.at(number), "nccl_conf", wrong=wrong)
        name = name.strip().removeprefix("export ").strip()
        if equals and _NAME.fullmatch(name):
            plain = value.strip().strip("\"'")
            yield Variable(at=file.at(number), name=name, value=plain, everywhere=True)


nccl_conf = Reader(title="nccl.conf", read=_read)
