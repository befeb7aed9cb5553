"""The files that a user names, read with bounds: nothing is followed, nothing is run."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from weft.errors import Unreadable
from weft.lint.text import Text
from weft.readers.archives import (
    ARCHIVES,
    DEEPEST_FOLDER,
    UNREADABLE,
    Bounded,
    Budget,
    TooLarge,
    members,
)
from weft.readers.untrusted import printable, read_bytes

LARGEST_BYTES: Final = 64 << 20
MOST_FILES: Final = 100_000
MOST_UNPACKED_BYTES: Final = 1 << 30
_SKIPPED: Final = frozenset({".git", ".hg", ".venv", "node_modules", "__pycache__"})
_SNIFFED: Final = 8192


@dataclass(frozen=True, slots=True, kw_only=True)
class Unread:
    """A file that was left out, and why."""

    name: str
    reason: str
    failed: bool = False
    """Whether a reader or a rule of weft failed over it."""


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
    """Yield the files below a folder in the order of names; without recursion."""
    waiting = [(path, 0)]
    while waiting:
        place, depth = waiting.pop()
        if not place.is_dir():
            yield place
        elif depth <= DEEPEST_FOLDER:
            inside = sorted(place.iterdir(), reverse=True)
            waiting += [(one, depth + 1) for one in inside if _is_wanted(one)]


def _is_wanted(path: Path) -> bool:
    if path.is_symlink():
        return False
    if path.is_dir():
        return path.name not in _SKIPPED and path.name[0] != "."
    return path.is_file()


def _members(file: Path) -> Iterator[Text | Unread]:
    """Yield the files of an archive, read in place: its names are labels, never paths."""
    budget = Budget(bytes_left=MOST_UNPACKED_BYTES)
    for member in members(file):
        name = f"{printable(file.as_posix())}/{member.name}"
        if member.stream is None:
            yield Unread(name=name, reason=member.skipped)
            continue
        stream = Bounded(member.stream, LARGEST_BYTES, budget)
        try:
            yield _text(name, b"".join(iter(lambda: stream.read(1 << 20), b"")), "")  # noqa: B023 - read at once
        except TooLarge:
            yield Unread(name=name, reason="larger than is read of an archive")
        except UNREADABLE as failure:
            yield Unread(name=name, reason=f"cannot be read: {failure}")


def _read(file: Path) -> Text | Unread:
    name = printable(file.as_posix())
    try:
        content = read_bytes(file, LARGEST_BYTES)
    except OSError as failure:
        return Unread(name=name, reason=str(failure.strerror))
    if len(content) > LARGEST_BYTES:
        return Unread(name=name, reason=f"larger than {LARGEST_BYTES} bytes")
    return _text(name, content, str(file))


def _text(name: str, content: bytes, origin: str) -> Text | Unread:
    if b"\0" in content[:_SNIFFED]:
        return Unread(name=name, reason="is not text")
    return Text(name=name, content=content.decode("utf-8", errors="replace"), origin=origin)
