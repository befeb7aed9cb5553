"""Dockerfiles: the variables that an image gives to every job."""

from collections.abc import Iterator

import re2

from weft.lint.facts import Fact, Variable
from weft.lint.jobs import is_of_job
from weft.lint.reader import File, Reader

_OLD = re2.compile(r"ENV\s+([A-Z][A-Z0-9_]*)\s+([^=\s].*)")


def _read(file: File) -> Iterator[Fact]:
    for command in file.commands:
        for name, value in command.assignments:
            if is_of_job(name):
                yield Variable(at=command.at, name=name, value=value, everywhere=True)
    for number, line in file.lines():
        match = _OLD.fullmatch(line.strip())
        if match and is_of_job(match[1]):
            name, value = match[1], match[2].strip()
            yield Variable(at=file.at(number), name=name, value=value, everywhere=True)


dockerfile = Reader(title="Dockerfile", read=_read)
