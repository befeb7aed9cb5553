"""``opensm.conf``: one option a line."""

from collections.abc import Iterator
from typing import Final

from weft.lint.facts import Fact, Option
from weft.lint.names import names
from weft.lint.reader import File, Reader

_KNOWN: Final = tuple(names("opensm.marks"))
_ENOUGH: Final = 2


def _claims(file: File) -> bool:
    if not file.name.endswith((".conf", ".opts")):
        return False
    first = {line.split(None, 1)[0] for _, line in file.lines() if line.split()}
    return (
        _overlay(file)
        or "opensm" in file.text.stem
        or len(first.intersection(_KNOWN)) >= _ENOUGH
    )


def _overlay(file: File) -> bool:
    """Return whether a file has what NVIDIA's subnet manager adds, to be merged."""
    return "mlnxsm" in file.text.stem


def _read(file: File) -> Iterator[Fact]:
    for number, line in file.lines():
        text = line.partition("#")[0].strip()
        if text:
            name, _, value = text.partition(" ")
            if value.strip() == "(null)":  # as opensm -c writes what is not set
                continue
            yield Option(
                at=file.at(number),
                device=file.name,
                program="mlnxsm" if _overlay(file) else "opensm",
                name=name.strip(),
                value=value.strip(),
            )


opensm_conf = Reader(title="opensm.conf", claims=_claims, read=_read)
