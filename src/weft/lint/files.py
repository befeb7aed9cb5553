"""The files that a user names, read with bounds: nothing is followed, nothing is run."""

import tarfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from weft.errors import Unreadable
from weft.lint.text import Text

LARGEST_BYTES: Final = 64 << 20
MOST_FILES: Final = 100_000
MOST_UNPACKED_BYTES: Final = 1 << 30
ARCHIVES: Final = (".tar", ".tar.gz", ".tgz", ".tar.xz", ".tar.bz2")
_SKIPPED: Final = frozenset({".git", ".hg", ".venv", "node_modules", "__pycache__"})
_SNIFFED: Final = 8192


@dataclass(frozen=True, slots=True, kw_only=True)
class Unread:
    """A file that was left out, and why."""

    name: str
    reason: str


def collect(paths: Sequence[Path]) -> Iterator[Text | Unread]:
    """Yield every file under some paths, in order; each once."""
    seen: set[Path] = set()
    for path in paths:
        if not path.exists():
            raise Unreadable(f"{path}: there is no such file or folder")
        for file in _below(path):
            if file in seen:
                continue
            seen.add(file)
            if len(seen) > MOST_FILES:
                raise Unreadable(f"{path}: holds more than {MOST_FILES} files; name fewer")
            if file.name.endswith(ARCHIVES):
                yield from _members(file)
            else:
                yield _read(file)


def _below(path: Path) -> Iterator[Path]:
    if not path.is_dir():
        yield path
        return
    for one in sorted(path.iterdir()):
        if one.is_symlink():
            continue
        if one.is_dir() and one.name not in _SKIPPED and one.name[0] != ".":
            yield from _below(one)
        elif one.is_file():
            yield one


def _members(file: Path) -> Iterator[Text | Unread]:
    """Yield the files of an archive, read in place: its names are labels, never paths."""
    left = MOST_UNPACKED_BYTES
    try:
        with tarfile.open(file, "r|*") as archive:
            for number, member in enumerate(archive):
                name = f"{file.as_posix()}/{member.name}"
                if not member.isfile():
                    continue
                left -= member.size
                if member.size > LARGEST_BYTES or left < 0 or number > MOST_FILES:
                    yield Unread(name=name, reason="larger than is read of an archive")
                    return
                stream = archive.extractfile(member)
                yield _text(name, stream.read(LARGEST_BYTES) if stream else b"", "")
    except (OSError, EOFError, tarfile.TarError, zlib.error) as failure:
        yield Unread(name=str(file), reason=f"is no archive that can be read: {failure}")


def _read(file: Path) -> Text | Unread:
    try:
        if file.stat().st_size > LARGEST_BYTES:
            return Unread(name=str(file), reason=f"larger than {LARGEST_BYTES} bytes")
        content = file.read_bytes()
    except OSError as failure:
        return Unread(name=str(file), reason=str(failure.strerror))
    return _text(file.as_posix(), content, str(file))


def _text(name: str, content: bytes, origin: str) -> Text | Unread:
    if b"\0" in content[:_SNIFFED]:
        return Unread(name=name, reason="is not text")
    return Text(name=name, content=content.decode("utf-8", errors="replace"), origin=origin)
