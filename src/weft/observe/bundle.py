"""Files, folders and archives, read in place: nothing is ever written to disk.

An archive is hostile until proved otherwise: its members are streamed, each and all of them
bounded, links are passed over, names are labels and never paths, and a member that unpacks
to far more than it holds is given up. Support bundles of known layouts (sosreport,
must-gather, a folder for each host) name the hosts of their files.
"""

import gzip
import re
import stat
import tarfile
import zipfile
import zlib
from collections import Counter as Tally
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from weft.errors import Unreadable
from weft.observe.facts import Fact, FileRead
from weft.observe.observation import Observation
from weft.observe.parser import Source
from weft.observe.reading import read_stream
from weft.observe.text import Bytes

MOST_MEMBERS = 100_000
MOST_MEMBER_BYTES = 2 << 30
MOST_TOTAL_BYTES = 4 << 30
MOST_RATIO = 1000
_RATIO_MATTERS_BYTES = 64 << 20
_MOST_OF_A_KIND = 200_000
_MOST_HEADER_BYTES = 1 << 20
_HIDDEN = (".git", "__pycache__", "node_modules", ".venv")
_GZIP = b"\x1f\x8b"
_HOST = re.compile(
    r"(?:^|/)(?:sosreport-(?P<sos>[A-Za-z][\w.]*(?:-[A-Za-z][\w.]*)*)[^/]*|"
    r"(?:hosts|nodes)/(?P<node>[\w.-]+))/"
)
_COMMAND = re.compile(
    r"(?:^|/)(?:sos_commands/[^/]+/|commands/)?(?P<name>[^/]+?)(?:\.(?:txt|log|out))?$"
)
_SAMPLE = re.compile(r"(?:^|/)sample_(?P<number>\d{1,3})_at_(?P<at>\d{1,12})/")
_UNREADABLE = (OSError, EOFError, tarfile.TarError, zipfile.BadZipFile, zlib.error)


class _TooLarge(Exception):  # noqa: N818 - ends one member, never seen outside
    """A member gave more bytes than it may."""


@dataclass(slots=True)
class _Budget:
    """What may still be read of a bundle."""

    bytes_left: int = MOST_TOTAL_BYTES
    members_left: int = MOST_MEMBERS


class _Bounded:
    """A stream that ends in an exception when it gives too much."""

    def __init__(self, stream: Bytes, limit: int, budget: _Budget) -> None:
        self._stream, self._left, self._budget = stream, limit, budget

    def read(self, size: int, /) -> bytes:
        """Return the next bytes."""
        data = self._stream.read(size)
        self._left -= len(data)
        self._budget.bytes_left -= len(data)
        if self._left < 0 or self._budget.bytes_left < 0:
            raise _TooLarge
        return data


@dataclass(frozen=True, slots=True)
class _Member:
    """A text to read: its name, its stream, how much it may give, or why it is skipped."""

    name: str
    stream: Bytes | None = None
    limit: int = MOST_MEMBER_BYTES
    skipped: str = ""


def observe(*paths: Path) -> Observation:
    """Read files, folders and archives, and return what was seen in them."""
    facts: list[Fact] = []
    files: list[FileRead] = []
    tally: Tally[type] = Tally()
    budget = _Budget()
    for path in paths:
        if not path.exists():
            raise Unreadable(f"{path}: there is no such file or folder to read")
        for member in _members(path):
            seen, read = _read(member, budget)
            files.append(_kept(seen, read, facts, tally))
            if budget.members_left <= 0 or budget.bytes_left <= 0:
                files.append(_skipped(str(path), "the rest is beyond what one bundle may hold"))
                break
    return Observation(tuple(facts), tuple(files))


def _kept(
    seen: list[Fact], read: FileRead, facts: list[Fact], tally: "Tally[type]"
) -> FileRead:
    """Keep the facts of a file as far as the bounds of the whole bundle allow."""
    left_out = 0
    for fact in seen:
        kind = type(fact)
        if tally[kind] >= _MOST_OF_A_KIND:
            left_out += 1
            continue
        tally[kind] += 1
        facts.append(fact)
    return replace(read, left_out=read.left_out + left_out) if left_out else read


def _read(member: _Member, budget: _Budget) -> tuple[list[Fact], FileRead]:
    budget.members_left -= 1
    if member.stream is None:
        return [], _skipped(member.name, member.skipped)
    sample = _SAMPLE.search(member.name)
    source = Source(
        member.name,
        host=_host(member.name),
        command=_command(member.name),
        sample=int(sample["number"]) if sample else None,
        sampled_s=float(sample["at"]) if sample else None,
    )
    try:
        return read_stream(_Bounded(member.stream, member.limit, budget), source)
    except _TooLarge:
        return [], _skipped(member.name, "it holds more than may be read")
    except _UNREADABLE as error:
        return [], _skipped(member.name, f"it cannot be read: {error}")


def _skipped(name: str, why: str) -> FileRead:
    return FileRead(file=name, lines=0, blank=0, unread=0, skipped=why)


def _host(name: str) -> str:
    found = _HOST.search(name)
    return (found["sos"] or found["node"] or "") if found else ""


def _command(name: str) -> str:
    """Return the command a file's name spells, as support bundles name their files.

    >>> _command("sosreport-a1/sos_commands/networking/ethtool_-S_ens1")
    'ethtool -S ens1'
    """
    found = _COMMAND.search(name)
    return found["name"].replace("_", " ") if found and "_-" in found["name"] else ""


def _members(path: Path) -> Iterator[_Member]:
    """Yield the texts of a file, folder or archive."""
    if path.is_dir():
        yield from _folder(path)
    elif zipfile.is_zipfile(path):
        yield from _zip(path, path.name)
    elif _is_tar(path):
        yield from _tar(path, path.name)
    else:
        yield from _file(path, path.name)


def _is_tar(path: Path) -> bool:
    with suppress(*_UNREADABLE):
        return tarfile.is_tarfile(path)
    return False


def _folder(path: Path) -> Iterator[_Member]:
    for child in sorted(path.iterdir()):
        if child.is_symlink() or child.name in _HIDDEN:
            continue
        if child.is_dir():
            yield from (replace(m, name=f"{child.name}/{m.name}") for m in _folder(child))
        elif child.is_file():
            yield from (
                replace(m, name=f"{child.name}/{m.name}") if m.name != child.name else m
                for m in _members(child)
            )


def _file(path: Path, name: str) -> Iterator[_Member]:
    try:
        with path.open("rb") as stream:
            packed = stream.read(2) == _GZIP
            stream.seek(0)
            if packed:
                limit = _bound(path.stat().st_size)
                with gzip.open(stream) as unpacked:
                    yield _Member(name, unpacked, limit)
            else:
                yield _Member(name, stream)
    except OSError as error:
        yield _Member(name, skipped=f"it cannot be read: {error.strerror}")


def _bound(packed_bytes: int) -> int:
    """Return how much packed bytes may unpack to."""
    return min(MOST_MEMBER_BYTES, max(_RATIO_MATTERS_BYTES, packed_bytes * MOST_RATIO))


def _zip(path: Path, name: str) -> Iterator[_Member]:
    try:
        with zipfile.ZipFile(path) as archive:
            for info in archive.infolist():
                label = _label(info.filename)
                symlink = stat.S_ISLNK(info.external_attr >> 16)
                if info.is_dir() or symlink:
                    continue
                if info.flag_bits & 1:
                    yield _Member(label, skipped="it is encrypted")
                    continue
                with archive.open(info) as stream:
                    yield _Member(label, stream, _bound(info.compress_size))
    except (*_UNREADABLE, NotImplementedError, RuntimeError) as error:
        yield _Member(name, skipped=f"the archive is damaged: {error}")


def _tar(path: Path, name: str) -> Iterator[_Member]:
    limit = _bound(path.stat().st_size)
    try:
        with tarfile.open(path, "r|*", tarinfo=_Header) as archive:
            for info in archive:
                if not info.isreg():
                    continue
                label = _label(info.name)
                if info.size > limit:
                    yield _Member(
                        label, skipped="it holds more than may be read, as may the rest"
                    )
                    return
                stream = archive.extractfile(info)
                if stream is not None:
                    yield _Member(label, stream, limit)
    except _UNREADABLE as error:
        yield _Member(name, skipped=f"the archive is damaged: {error}")


class _Header(tarfile.TarInfo):
    """A header of a tar archive; those that carry long names are read whole, so are bounded."""

    def _proc_member(self, archive: tarfile.TarFile) -> tarfile.TarInfo:
        if self.type not in tarfile.REGULAR_TYPES and self.size > _MOST_HEADER_BYTES:
            raise tarfile.ReadError("a header is too long")
        return super()._proc_member(archive)  # type: ignore[misc, no-any-return]  # for subclasses


def _label(name: str) -> str:
    """Return a member's name as a label: no root, no way up, no control characters."""
    parts = [part for part in re.split(r"[\\/]", name) if part not in {"", ".", ".."}]
    return re.sub(r"[\x00-\x1f\x7f]", "?", "/".join(parts))[:300]
