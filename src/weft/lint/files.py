"""The files that a user names, read with bounds: nothing is followed, nothing is run."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from weft.errors import Unreadable
from weft.lint.text import Text

LARGEST_BYTES: Final = 64 << 20
MOST_FILES: Final = 100_000
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
            yield _read(file)


def _below(path: Path) -> Iterator[Path]:
    if not path.is_dir():
        yield path
        return
    for one in sorted(path.iterdir()):
        if one.is_symlink():
            continue
        if one.is_dir() and one.name not in _SKIPPED:
            yield from _below(one)
        elif one.is_file():
            yield one


def _read(file: Path) -> Text | Unread:
    try:
        if file.stat().st_size > LARGEST_BYTES:
            return Unread(name=str(file), reason=f"larger than {LARGEST_BYTES} bytes")
        content = file.read_bytes()
    except OSError as failure:
        return Unread(name=str(file), reason=str(failure.strerror))
    if b"\0" in content[:_SNIFFED]:
        return Unread(name=str(file), reason="is not text")
    text = content.decode("utf-8", errors="replace")
    return Text(name=file.as_posix(), content=text, origin=str(file))
