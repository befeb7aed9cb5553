"""Files, folders and archives, read in place: nothing is ever written to disk.

An archive is hostile until proved otherwise: its members are streamed, each and all of them
bounded, links are passed over, names are labels and never paths, and a member that unpacks
to far more than it holds is given up. An archive within an archive is read as its members are,
to a bounded depth.
"""

import bz2
import gzip
import io
import lzma
import re
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import IO, Any

from weft.readers.untrusted import Bytes, opened, printable

ARCHIVES = (".tar", ".tar.gz", ".tgz", ".tar.xz", ".tar.bz2")
"""Endings of archives, zip files aside."""
BLOCK_BYTES = 1 << 18
MOST_MEMBERS = 100_000
MOST_MEMBER_BYTES = 2 << 30
MOST_TOTAL_BYTES = 4 << 30
MOST_RATIO = 1000
MOST_RATIO_OF_ALL = 200
"""Of all members of a zip file together: logs of the same line a million times reach 100."""
_RATIO_OF_ALL_MATTERS_BYTES = 256 << 20
DEEPEST_FOLDER = 64
_RATIO_MATTERS_BYTES = 64 << 20
_MOST_HEADER_BYTES = 1 << 20
_HIDDEN = (".git", "__pycache__", "node_modules", ".venv")
_GZIP, _BZIP2, _XZ, _ZIP = b"\x1f\x8b", b"BZh", b"\xfd7zXZ\x00", b"PK\x03\x04"
_HEAD_BYTES = 512
_TAR_MARK = slice(257, 262)
_DEEPEST = 4
"""How many archives may lie within one another: a report in a tarball in a ticket."""
_MOST_HEADERS = 10 * MOST_MEMBERS
"""Of an archive, folders and links among them."""
_MOST_LISTING_BYTES = 32 << 20
_MOST_TAIL_BYTES = (1 << 16) + 256
_SEE_ELSEWHERE = (1 << 32) - 1
_TOO_MUCH = "it holds more than may be read"
_LOCAL_HEADER_BYTES = 30
_MOST_ZIP_BYTES = 64 << 20
"""Of an archive within another whose end must be read first, so is held in memory."""
UNREADABLE = (
    OSError,
    EOFError,
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
)


class Joined:
    """A stream whose beginning was already read."""

    def __init__(self, head: bytes, rest: Bytes) -> None:
        """Put ``head`` in front of the rest."""
        self._head, self._rest = head, rest

    def read(self, size: int, /) -> bytes:
        """Return the next bytes."""
        if not self._head:
            return self._rest.read(size)
        given, self._head = self._head[:size], self._head[size:]
        return given


class TooLarge(Exception):  # noqa: N818 - ends one member, never seen outside
    """A member gave more bytes than it may."""


@dataclass(slots=True)
class Budget:
    """What may still be read of a bundle."""

    bytes_left: int = MOST_TOTAL_BYTES
    members_left: int = MOST_MEMBERS


class Bounded:
    """A stream that ends in an exception when it gives too much."""

    def __init__(self, stream: Bytes, limit: int, budget: Budget) -> None:
        """Bound a stream by its own limit and by what is left of the whole."""
        self._stream, self._left, self._budget = stream, limit, budget

    def read(self, size: int, /) -> bytes:
        """Return the next bytes."""
        data = self._stream.read(size)
        self._left -= len(data)
        self._budget.bytes_left -= len(data)
        if self._left < 0 or self._budget.bytes_left < 0:
            raise TooLarge
        return data


@dataclass(frozen=True, slots=True)
class Member:
    """A text to read: its name, its stream, how much it may give, or why it is skipped."""

    name: str
    stream: Bytes | None = None
    limit: int = MOST_MEMBER_BYTES
    skipped: str = ""


def members(path: Path) -> Iterator[Member]:
    """Yield the texts of a file, folder or archive; a pipe is a file, a device is refused."""
    if path.is_dir():
        yield from _folder(path)
    elif path.is_file() and zipfile.is_zipfile(path):
        yield from _zip(path, label(path.name))
    else:
        yield from _file(path, label(path.name))


def _folder(path: Path) -> Iterator[Member]:
    """Yield the texts of a folder and of the folders in it, in the order of names.

    Links are passed over; folders are a list and not a recursion, whose depth a name controls.
    """
    waiting: list[tuple[Path, tuple[str, ...]]] = [(path, ())]
    while waiting:
        place, above = waiting.pop()
        name = "/".join(above)
        if place.is_file():
            yield from (_below(name, above[-1], member) for member in members(place))
        elif len(above) > DEEPEST_FOLDER:
            yield Member(name, skipped=f"folders are nested more than {DEEPEST_FOLDER} deep")
        else:
            try:
                inside = sorted(place.iterdir(), reverse=True)
            except OSError as error:
                yield Member(name or str(path), skipped=f"it cannot be read: {_why(error)}")
                continue
            waiting += [
                (child, (*above, label(child.name)))
                for child in inside
                if child.name not in _HIDDEN
                and not child.is_symlink()
                and (child.is_dir() or child.is_file())
            ]


def _below(path: str, own: str, member: Member) -> Member:
    """Return a member of a file below a folder: itself, or what lies within the archive."""
    return replace(member, name=path if member.name == own else f"{path}/{member.name}")


def _file(path: Path, name: str) -> Iterator[Member]:
    try:
        with opened(path) as stream:
            yield from _unpacked(stream, name, MOST_MEMBER_BYTES, path.stat().st_size)
    except UNREADABLE as error:
        yield Member(name, skipped=f"it cannot be read: {_why(error)}")


def _why(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)


def _unpacked(
    stream: Bytes, name: str, limit: int, packed_bytes: int, depth: int = 0
) -> Iterator[Member]:
    """Yield the texts that a stream holds: itself, or those of the archive that it is."""
    head = _read_fully(stream, _HEAD_BYTES)
    whole = Joined(head, stream)
    if depth > _DEEPEST:
        yield Member(name, skipped=f"more than {_DEEPEST} archives lie within one another")
    elif head[_TAR_MARK] == b"ustar":
        yield from _tar(whole, name, limit, depth)
    elif head.startswith(_ZIP) and depth:
        yield from _inner_zip(whole, name, depth)
    else:
        opener = next((_OPENERS[mark] for mark in _OPENERS if head.startswith(mark)), None)
        foreign = next((_FOREIGN[mark] for mark in _FOREIGN if head.startswith(mark)), "")
        if foreign:
            yield Member(name, skipped=f"it is {foreign}: unpack it first")
        elif opener is None:
            yield Member(name, whole, limit)
        else:
            bound = min(limit, _bound(packed_bytes))
            with opener(_Readable(whole, MOST_TOTAL_BYTES)) as plain:
                yield from _unpacked(plain, name, bound, bound, depth + 1)


def _read_fully(stream: Bytes, size: int) -> bytes:
    """Return so many bytes, fewer only at the end: a stream may give less than it is asked."""
    parts = b""
    while len(parts) < size and (more := stream.read(size - len(parts))):
        parts += more
    return parts


class _Readable(io.RawIOBase):
    """A stream of bytes as the unpackers want it, which never goes back and gives so much."""

    def __init__(self, stream: Bytes, limit: int) -> None:
        self._stream, self._left = stream, limit

    def readable(self) -> bool:
        """Say that it can be read."""
        return True

    def read(self, size: int = -1, /) -> bytes:
        """Return the next bytes."""
        data = self._stream.read(size if size >= 0 else BLOCK_BYTES)
        self._left -= len(data)
        if self._left < 0:
            raise tarfile.ReadError(_TOO_MUCH)
        return data


_OPENERS: dict[bytes, Callable[[Any], Any]] = {
    _GZIP: lambda stream: gzip.GzipFile(fileobj=stream),
    _BZIP2: bz2.BZ2File,
    _XZ: lzma.LZMAFile,
}


def _bound_of_all(limit: int) -> int:
    """Return how much an archive may give in all, where each member may give so much."""
    return MOST_TOTAL_BYTES if limit >= MOST_MEMBER_BYTES else min(MOST_TOTAL_BYTES, 2 * limit)


def _bound(packed_bytes: int) -> int:
    """Return how much packed bytes may unpack to."""
    return min(MOST_MEMBER_BYTES, max(_RATIO_MATTERS_BYTES, packed_bytes * MOST_RATIO))


def _listing_bytes(path: Path | IO[bytes]) -> int:
    """Return the size of the list of files at the end of an archive, which is read whole."""
    with path.open("rb") if isinstance(path, Path) else nullcontext(path) as stream:
        stream.seek(0, io.SEEK_END)
        stream.seek(max(0, stream.tell() - _MOST_TAIL_BYTES))
        tail = stream.read(_MOST_TAIL_BYTES)
        stream.seek(0)
    size = _field(tail, b"PK\x05\x06", 12, 4)
    return max(size, _field(tail, b"PK\x06\x06", 40, 8)) if size == _SEE_ELSEWHERE else size


def _field(tail: bytes, mark: bytes, offset: int, width: int) -> int:
    at = tail.rfind(mark)
    return int.from_bytes(tail[at + offset : at + offset + width], "little") if at >= 0 else 0


def _zip(path: Path | IO[bytes], name: str, depth: int = 0) -> Iterator[Member]:
    try:
        if _listing_bytes(path) > _MOST_LISTING_BYTES:
            yield Member(name, skipped="it lists more files than may be read")
            return
        with zipfile.ZipFile(path) as archive:
            _refuse_bombs(archive.infolist())
            for info in archive.infolist():
                named = label(info.filename)
                symlink = stat.S_ISLNK(info.external_attr >> 16)
                if info.is_dir() or symlink:
                    continue
                if info.flag_bits & 1:
                    yield Member(named, skipped="it is encrypted")
                    continue
                with archive.open(info) as stream:
                    bound = _bound(info.compress_size)
                    yield from _inner(stream, named, bound, info.file_size, depth)
    except (*UNREADABLE, NotImplementedError, RuntimeError, ValueError) as error:
        yield Member(name, skipped=f"the archive is damaged: {error}")


def _refuse_bombs(infos: list[zipfile.ZipInfo]) -> None:
    """Raise BadZipFile where members share bytes, or unpack to far more than they hold.

    Each member alone stays within its own ratio: such an archive names one body many times
    [Fifield 2019, A better zip bomb].
    """
    ordered = sorted(infos, key=lambda info: info.header_offset)
    for info, following in pairwise(ordered):
        if (
            info.header_offset + _LOCAL_HEADER_BYTES + info.compress_size
            > following.header_offset
        ):
            raise zipfile.BadZipFile("its members overlap")
    unpacked = sum(info.file_size for info in infos)
    packed = sum(info.compress_size for info in infos)
    if unpacked > max(_RATIO_OF_ALL_MATTERS_BYTES, packed * MOST_RATIO_OF_ALL):
        raise zipfile.BadZipFile(f"it unpacks to more than {MOST_RATIO_OF_ALL} times its size")


_FOREIGN = {
    b"\x28\xb5\x2f\xfd": "packed with zstd",
    b"7z\xbc\xaf\x27\x1c": "packed with 7z",
    b"\x1f\x9d": "packed with compress",
    b"-----BEGIN PGP MESSAGE": "encrypted",
    b"\x85\x02": "encrypted",
    b"\x84\x8c": "encrypted",
}


def _tar(stream: Bytes, name: str, limit: int, depth: int) -> Iterator[Member]:
    whole = _Readable(stream, _bound_of_all(limit))
    try:
        with tarfile.open(fileobj=whole, mode="r|", tarinfo=_Header) as archive:
            for info in _headers(archive):
                if not info.isreg():
                    continue
                named = label(info.name)
                if info.size > limit:
                    yield Member(
                        named, skipped="it holds more than may be read, as may the rest"
                    )
                    return
                held = archive.extractfile(info)
                if held is not None:
                    yield from _inner(held, named, limit, info.size, depth)
    except UNREADABLE as error:
        yield Member(name, skipped=f"the archive is damaged: {error}")


def _headers(archive: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
    """Yield the headers of an archive, none of which is remembered."""
    for _ in range(_MOST_HEADERS):
        info = archive.next()
        if info is None:
            return
        archive.members.clear()  # type: ignore[attr-defined]  # it would hold them all
        yield info
    raise tarfile.ReadError(_TOO_MUCH)


def _inner(stream: Bytes, name: str, limit: int, size: int, depth: int) -> Iterator[Member]:
    """Yield the texts of a member, below its name where it is an archive itself."""
    try:
        for member in _unpacked(stream, name, limit, size, depth + 1):
            yield (
                member if member.name == name else replace(member, name=f"{name}/{member.name}")
            )
    except UNREADABLE as error:
        yield Member(name, skipped=f"it cannot be read: {_why(error)}")


def _inner_zip(stream: Bytes, name: str, depth: int) -> Iterator[Member]:
    held = _read_fully(stream, _MOST_ZIP_BYTES + 1)
    if len(held) > _MOST_ZIP_BYTES:
        yield Member(name, skipped="an archive within an archive that is too large: unpack it")
    else:
        yield from _zip(io.BytesIO(held), name, depth)


class _Header(tarfile.TarInfo):
    """A header of a tar archive; those that carry long names are read whole, so are bounded."""

    def _proc_member(self, archive: tarfile.TarFile) -> tarfile.TarInfo:
        if self.type not in tarfile.REGULAR_TYPES and self.size > _MOST_HEADER_BYTES:
            raise tarfile.ReadError("a header is too long")
        return super()._proc_member(archive)  # type: ignore[misc, no-any-return]  # for subclasses


def label(name: str) -> str:
    """Return a name as a label: no root, no way up, no control characters, valid UTF-8."""
    parts = [part for part in re.split(r"[\\/]", name) if part not in {"", ".", ".."}]
    return printable("/".join(parts))[:300]
