"""The files that a user names, read with bounds: nothing is followed, nothing is run."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from weft.errors import Unreadable
from weft.lint.text import Text
from weft.readers.archives import UNREADABLE, Bounded, Budget, Member, TooLarge, members
from weft.readers.untrusted import printable

LARGEST_BYTES: Final = 64 << 20
MOST_FILES: Final = 100_000
MOST_BYTES: Final = 1 << 30
"""Of all files of one path."""
_BLOCK_BYTES: Final = 1 << 20
_SNIFFED: Final = 8192


@dataclass(frozen=True, slots=True, kw_only=True)
class Unread:
    """A file that was left out, and why."""

    name: str
    reason: str
    failed: bool = False
    """Whether a reader or a rule of weft failed over it."""


def collect(paths: Sequence[Path]) -> Iterator[Text | Unread]:
    """Yield every file under some paths and in archives, in order; each once.

    Names in archives are labels, never paths; hidden folders are left out.
    """
    seen: set[str] = set()
    for path in paths:
        budget = Budget(bytes_left=MOST_BYTES)
        for name, member in _below(path):
            if name in seen:
                continue
            seen.add(name)
            if len(seen) > MOST_FILES:
                raise Unreadable(f"{path}: holds more than {MOST_FILES} files; name fewer")
            yield _read(name, member, budget)


def _below(path: Path) -> Iterator[tuple[str, Member]]:
    if not path.exists():
        raise Unreadable(f"{path}: there is no such file or folder")
    for member in members(path):
        if not any(folder[:1] == "." for folder in member.name.split("/")[:-1]):
            yield _name(path, member), member


def _name(path: Path, member: Member) -> str:
    own = not path.is_dir() and member.name == path.name
    return printable((path if own else path / member.name).as_posix())


def _read(name: str, member: Member, budget: Budget) -> Text | Unread:
    if member.stream is None:
        return Unread(name=name, reason=member.skipped)
    stream = Bounded(member.stream, LARGEST_BYTES, budget)
    try:
        content = b"".join(iter(lambda: stream.read(_BLOCK_BYTES), b""))
    except TooLarge:
        return Unread(name=name, reason="larger than may be read")
    except UNREADABLE as failure:
        return Unread(name=name, reason=f"cannot be read: {failure}")
    if b"\0" in content[:_SNIFFED]:
        return Unread(name=name, reason="is not text")
    origin = name if Path(name).is_file() else ""
    return Text(name=name, content=content.decode("utf-8", errors="replace"), origin=origin)
