"""Units of systemd: limits, order, environment, and the commands that they run."""

from collections.abc import Iterator

import re2

from weft.lint.facts import Fact, option
from weft.lint.jobs import job_facts
from weft.lint.nics import nic_facts
from weft.lint.reader import File, Reader
from weft.lint.shell import commands

_SECTION = re2.compile(r"\[(\w+)\]")
_ROW = re2.compile(r"(\w+)\s*=\s*(.*)")
_RUNS = frozenset({"ExecStart", "ExecStartPre", "ExecStartPost"})


def _read(file: File) -> Iterator[Fact]:
    section = ""
    for number, line in file.lines():
        heading = _SECTION.fullmatch(line.strip())
        row = _ROW.fullmatch(line.strip())
        if heading:
            section = heading[1]
            yield option(file.at(number), "systemd", section, "", device=file.text.stem)
        elif row and line[0] not in "#;":
            at, name, value = file.at(number), f"{section}.{row[1]}", row[2].strip()
            yield option(at, "systemd", name, value, device=file.text.stem)
            if row[1] in _RUNS or row[1] == "Environment":
                yield from _inside(file, number, row[1], row[2])


def _inside(file: File, number: int, name: str, value: str) -> Iterator[Fact]:
    text = value.lstrip("-@+!:") if name in _RUNS else f"export {value}"
    found = list(commands(iter([(number, text)]), file.at))
    yield from job_facts(found)
    yield from nic_facts(found)


systemd_unit = Reader(title="systemd units", read=_read)
