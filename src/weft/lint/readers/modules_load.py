"""Files of ``modules-load.d`` and ``modprobe.d``: which kernel modules there are to be."""

from collections.abc import Iterator

from weft.lint.facts import Fact, Option
from weft.lint.reader import File, Reader

_FOLDERS = frozenset({"modules-load.d", "modprobe.d"})


def _claims(file: File) -> bool:
    return file.text.folder in _FOLDERS or file.text.stem == "modules"


def _read(file: File) -> Iterator[Fact]:
    for number, line in file.lines():
        words = line.partition("#")[0].split()
        if not words:
            continue
        name, state = (words[1], "remove") if words[0] == "blacklist" else (words[0], "load")
        yield Option(
            at=file.at(number), program="modules", name=name.replace("-", "_"), value=state
        )


modules_load = Reader(title="kernel modules", claims=_claims, read=_read)
