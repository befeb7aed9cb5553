"""From paths to an inventory: each file line by line, whatever stands in it.

A reader that fails becomes a note on its file; nothing that is read can stop the rest.
"""

import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import re2

from weft.inventory.evidence import Evidence
from weft.inventory.inventory import FileRead, Inventory, sample_name
from weft.readers.archives import UNREADABLE, Bytes, TooLarge
from weft.readers.documents import read_document
from weft.readers.engine import Block, Engine, Form, ParserBlock, engine
from weft.readers.fold import Seen
from weft.readers.line import Line
from weft.readers.parser import Parser
from weft.readers.places import Place, places
from weft.readers.scribe import Scribe

BLOCK_BYTES: Final = 1 << 20
LONGEST_LINE: Final = 4 << 20
"""A longer line is read in parts of this size."""
MOST_DOCUMENT_BYTES: Final = 64 << 20
"""A JSON or XML document is read whole, so bounded."""
_MOST_NOTES: Final = 8
OTHERWISE: Final = "otherwise"
"""The table of lines that count only where no other row knows them."""
_ESCAPES: Final = re2.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_FRONT: Final = re2.compile(
    r"^(?:> ?)+|^(?:\[\d+,\d+\]<std\w+>: ?)|^\[\d+\]<std\w+>: ?|^.{0,40}\[\d+,\d+\]<std\w+>: ?"
)


def read(*paths: Path) -> Inventory:
    """Read files, folders and archives into one inventory."""
    inventory = Inventory()
    for place in places(*paths):
        inventory.files.append(_read_place(place, inventory))
    _name_the_only_host(inventory)
    return inventory


def _read_place(place: Place, inventory: Inventory) -> FileRead:
    if place.skipped:
        return FileRead(file=place.name, skipped=place.skipped)
    scribe = Scribe(inventory, place.name, {"host": place.host} if place.host else {})
    scribe.time_s = place.sampled_s
    if place.sampled_s is not None:
        inventory.samples.setdefault(sample_name(place.name), place.sampled_s)
    reading = Reading(engine(), scribe)
    assert place.stream is not None
    try:
        _read_stream(place.stream, place.title, scribe, reading)
    except TooLarge:
        return FileRead(file=place.name, skipped="it holds more than may be read")
    except UNREADABLE as error:
        return FileRead(file=place.name, skipped=f"it cannot be read: {error}")
    return reading.account()


def _read_stream(stream: Bytes, title: str, scribe: Scribe, reading: "Reading") -> None:
    head = _filled(stream)
    if _is_binary(head):
        reading.skipped = "it is not text"
        return
    if _is_document(head):
        whole = head + b"".join(iter(lambda: stream.read(BLOCK_BYTES), b""))
        if len(whole) <= MOST_DOCUMENT_BYTES:
            kind = _contained(reading, lambda: read_document(whole, title, scribe))
            reading.document(kind or "")
        head, stream = whole, io.BytesIO()
    reading.title(title)
    repeats = reading.seen.repeats
    for number, line in enumerate(_lines(head, stream), 1):
        if repeats(line):
            reading.repeated += 1
        else:
            reading.line(number, line)
    reading.finish()


def _filled(stream: Bytes) -> bytes:
    """Return the first block whole: a stream may give less than it is asked."""
    parts = b""
    while len(parts) < BLOCK_BYTES and (more := stream.read(BLOCK_BYTES - len(parts))):
        parts += more
    return parts


@dataclass(slots=True)
class Reading:
    """The state of reading one file."""

    engine: Engine
    scribe: Scribe
    block: Block | None = None
    opened: Form | None = None
    lines: int = 0
    matched: int = 0
    repeated: int = 0
    """Lines that said again what an earlier one said."""
    formats: dict[str, None] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    skipped: str = ""
    unread: list[Evidence] = field(default_factory=list)
    seen: Seen = field(default_factory=Seen)

    def title(self, title: str) -> None:
        """Read the name of the file as the command that wrote it."""
        if title:
            self.line(0, f"$ {title}".encode())
            self.lines = 0

    def line(self, number: int, raw: bytes) -> None:
        """Read one line."""
        self.lines += 1
        raw = _plain(raw)
        rows, opened = self.engine.matches(raw)
        if not rows and opened is None and self.block is None:
            return
        line = Line(number, raw.decode("utf-8", "replace"), raw)
        if len(rows) > 1:
            rows = [one for one in rows if one.tool != OTHERWISE]
        hits = [_contained(self, lambda one=one: one.read(line, self.scribe))
                for one in rows]  # fmt: skip
        closes = any(one.closes for one, hit in zip(rows, hits, strict=True) if hit)
        if closes or (opened is not None and opened is not self.opened):
            self._end()
        if opened is not None and self.block is None:
            self._begin(opened)
        read = self.block is not None and _contained(
            self,
            lambda: self.block.read(raw, line),
        )
        if rows and rows[0].tool == OTHERWISE and not read:
            if len(self.unread) < _MOST_NOTES:
                self.unread.append(self.scribe.evidence(line))
        else:
            self.matched += bool(read or any(hits))

    def document(self, kind: str) -> None:
        """Note that the file was a document of a kind that is known."""
        if kind:
            self.formats[kind] = None
            self.matched += 1

    def finish(self) -> None:
        """End the last block."""
        self._end()

    def account(self) -> FileRead:
        """Return what became of the file."""
        return FileRead(
            file=self.scribe.file,
            lines=self.lines + self.repeated,
            matched=self.matched + self.repeated,
            formats=tuple(self.formats),
            notes=tuple(self.notes[:_MOST_NOTES]),
            skipped=self.skipped,
            unread=tuple(self.unread),
        )

    def _begin(self, opened: Form) -> None:
        self.opened = opened
        self.formats[opened.name] = None
        self.block = (
            ParserBlock(opened, self.scribe, [])
            if isinstance(opened, Parser)
            else opened.block(self.scribe)
        )

    def _end(self) -> None:
        if self.block is not None:
            _contained(self, self.block.end)
        self.block = self.opened = None


def _contained(reading: Reading, act):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Do something with untrusted input; a failure is a note on the file."""
    try:
        return act()
    except Exception as error:  # noqa: BLE001 - whatever a reader trips over
        reading.notes.append(f"{type(error).__name__}: {error}")
        return None


def _plain(raw: bytes) -> bytes:
    """Return a line without colours, quotation marks and stamps of launchers."""
    raw = raw.rstrip(b"\r\n")
    if b"\x1b" in raw:
        raw = _ESCAPES.sub("", raw.decode("utf-8", "replace")).encode()
    if raw[:1] == b">" or b"<std" in raw[:80]:
        raw = _FRONT.sub("", raw.decode("utf-8", "replace")).encode()
    return raw


def _lines(head: bytes, stream: Bytes) -> Iterator[bytes]:
    """Yield the lines of a stream, of which the first part was read."""
    head, stream = _as_utf8(head, stream)
    rest = b""
    while head:
        parts = (rest + head).split(b"\n")
        rest = parts.pop()
        yield from parts
        if len(rest) > LONGEST_LINE:
            yield rest
            rest = b""
        head = stream.read(BLOCK_BYTES)
    if rest:
        yield rest


def _as_utf8(head: bytes, stream: Bytes) -> tuple[bytes, Bytes]:
    """Return UTF-16, as shells of Windows write it, as UTF-8."""
    if head[:2] not in {b"\xff\xfe", b"\xfe\xff"}:
        return head.removeprefix(b"\xef\xbb\xbf"), stream
    whole = head + b"".join(iter(lambda: stream.read(BLOCK_BYTES), b""))
    return whole.decode("utf-16", "replace").encode(), io.BytesIO()


def _is_binary(head: bytes) -> bool:
    utf16 = head[:2] in {b"\xff\xfe", b"\xfe\xff"}
    return not utf16 and b"\0" in head[:4096] and head[:2] != b"\x80\x02"


def _is_document(head: bytes) -> bool:
    front = head[:512].lstrip(b"\xef\xbb\xbf \t\r\n")
    if front[:1] == b"[":
        return front[1:].lstrip()[:1] in {b"{", b"]", b"[", b'"'}
    return front[:1] in {b"{", b"<"}


def _name_the_only_host(inventory: Inventory) -> None:
    """Give what names no host the name of the only host that the input names."""
    hosts = {
        entity.fields["host"] for entity in _entities(inventory) if "host" in entity.fields
    } - {""}
    if len(hosts) == 1:
        inventory.rename_host("", hosts.pop())


def _entities(inventory: Inventory) -> Iterable:  # type: ignore[type-arg]
    yield from inventory.readings
    yield from (entity for _, entity in inventory.events if entity.kind != "input")
