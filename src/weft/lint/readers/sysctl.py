"""``sysctl.conf`` and files of ``sysctl.d``."""

from collections.abc import Iterator

import re2

from weft.lint.facts import Fact, Flaw, Option
from weft.lint.reader import File, Reader

_ROW = re2.compile(r"-?\s*([a-z][\w./*-]+)\s*=\s*(.*?)\s*")
_TREES = ("net.", "kernel.", "vm.", "fs.", "net/", "kernel/", "vm/")


def _claims(file: File) -> bool:
    if file.text.stem == "sysctl.conf" or file.text.folder == "sysctl.d":
        return True
    if not file.name.endswith(".conf"):
        return False
    lines = [line for _, line in file.lines()]
    has_sections = any(line.startswith("[") for line in lines)
    return not has_sections and any(
        line.lstrip("- ").startswith(_TREES) and "=" in line for line in lines
    )


def _read(file: File) -> Iterator[Fact]:
    for number, line in file.lines():
        text = line.strip()
        if not text or text[0] in "#;":
            continue
        match = _ROW.fullmatch(text)
        if match is None:
            yield Flaw(
                at=file.at(number),
                rule="broken_line",
                message="sysctl cannot read this line",
                fix="write key = value",
            )
        else:
            yield Option(
                at=file.at(number),
                program="sysctl",
                name=match[1].replace("/", "."),
                value=match[2],
            )


sysctl = Reader(title="sysctl", claims=_claims, read=_read)
