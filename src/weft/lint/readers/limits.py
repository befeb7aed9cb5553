"""``limits.conf`` and files of ``limits.d``: who may pin how much memory."""

from collections.abc import Iterator

from weft.lint.facts import Fact, Option
from weft.lint.reader import File, Reader

_FIELDS = 4
_TYPES = frozenset({"soft", "hard", "-"})


def _claims(file: File) -> bool:
    return file.name.endswith(".conf") and any(_row(line) for _, line in file.lines())


def _row(line: str) -> list[str]:
    fields = line.partition("#")[0].split()
    return fields if len(fields) == _FIELDS and fields[1] in _TYPES else []


def _read(file: File) -> Iterator[Fact]:
    for number, line in file.lines():
        fields = _row(line)
        if fields:
            who, kind, name, value = fields
            yield Option(
                at=file.at(number),
                device=who,
                program="limits",
                name=f"{name} {kind}",
                value=value,
            )


limits = Reader(title="limits.conf", claims=_claims, read=_read)
