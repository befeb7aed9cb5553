"""From paths to an inventory: each file line by line, whatever stands in it.

A reader that fails becomes a note on its file, with the line and the reader; nothing that is
read can stop the rest. Each file and the whole input have a deadline; what was left out by it
is named, and then "no problem found" is no verdict.
"""

import codecs
import io
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeVar

import re2

from weft.inventory.evidence import Evidence
from weft.inventory.inventory import FileRead, Inventory, sample_name
from weft.readers.archives import UNREADABLE, Joined, TooLarge
from weft.readers.configurations import (
    Claim,
    holds_state,
    is_output,
    may_be_configuration,
)
from weft.readers.documents import Parsed, kinds_of
from weft.readers.engine import OTHERWISE, Block, Engine, Form, ParserBlock, engine
from weft.readers.fold import Seen
from weft.readers.layouts import series
from weft.readers.line import Line
from weft.readers.parser import Parser
from weft.readers.places import Place, places, title_of
from weft.readers.rows import Row
from weft.readers.scribe import Scribe
from weft.readers.sections import sections
from weft.readers.unknown import Unknown, is_count, is_harmless
from weft.readers.untrusted import Bytes, Malformed, is_yaml_object, json_value

BLOCK_BYTES: Final = 1 << 20
LONGEST_LINE: Final = 4 << 20
"""A longer line is read in parts of this size."""
MOST_DOCUMENT_BYTES: Final = 64 << 20
"""A JSON or XML document is read whole, so bounded."""
MOST_S_OF_FILE: Final = 120.0
MOST_S: Final = 900.0
"""Of the whole input: 4 GiB of logs take about four minutes."""
_MOST_NOTES: Final = 8
_LONGEST_WHY: Final = 200
_KNOWN_RATIO: Final = 0.1
"""Of the lines of a file: where a reader knows fewer, its output is unknown."""
T = TypeVar("T")
_ESCAPES: Final = re2.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_FRONT: Final = re2.compile(
    r"^(?:> ?)+|^(?:\[\d+,\d+\]<std\w+>: ?)|^\[\d+\]<std\w+>: ?|^.{0,40}\[\d+,\d+\]<std\w+>: ?"
)
_LONGEST_LABEL: Final = 64
_YAML_FRONT: Final = b"apiVersion:"
_YAML_LINE: Final = re2.compile(r"[\s-]|[b-z]\w*:(?:\s|$)|$")
"""A line of an object in YAML that has begun: within its parts, or the name of one."""
_RANK: Final = re2.compile(r"^ ?\d{1,5}: ([ #{].*)$")
"""What ``srun --label`` and ``mpirun --tag-output`` write before the lines of a benchmark."""


class OutOfTime(Exception):  # noqa: N818 - ends one file, never seen outside
    """A file, or the input as a whole, took longer than it may."""


@dataclass(frozen=True, slots=True)
class Deadline:
    """Until when there is time, on a clock in seconds."""

    clock: Callable[[], float]
    until_s: float

    def check(self) -> None:
        """Raise OutOfTime where the time is over."""
        if self.clock() > self.until_s:
            raise OutOfTime

    def sooner(self, seconds: float) -> "Deadline":
        """Return the deadline of a part, which has so many seconds at most."""
        return Deadline(self.clock, min(self.until_s, self.clock() + seconds))


def read(
    *paths: Path,
    clock: Callable[[], float] = time.monotonic,
    configurations: Claim | None = None,
) -> Inventory:
    """Read files, folders and archives into one inventory.

    ``configurations`` is given the text of each file that may be one; where it recognises a
    format, no line of the file is taken for trouble. Raises Unreadable for a path that is not
    there or is a device.
    """
    inventory = Inventory()
    deadline = Deadline(clock, clock() + MOST_S)
    for place in places(*paths):
        try:
            deadline.check()
        except OutOfTime:
            inventory.files.append(_left_out(place.name, _TOO_LATE))
            break
        of_file = deadline.sooner(MOST_S_OF_FILE)
        inventory.files.append(_read_place(place, inventory, of_file, configurations))
    _name_the_only_host(inventory)
    return inventory


_TOO_LATE: Final = f"it and what follows were left out: reading took longer than {MOST_S:.0f} s"


def _left_out(file: str, why: str) -> FileRead:
    return FileRead(file=file, skipped=why, notes=(why,))


def read_text(text: str, file: str) -> Inventory:
    """Read a text that is at hand into an inventory of its own.

    >>> text = "Linux n1 6.8.0-40-generic #40 SMP x86_64 GNU/Linux"
    >>> [entity.key for entity, _ in read_text(text, "uname.txt").of("host")]
    [('n1',)]
    """
    inventory = Inventory()
    place = Place(file, io.BytesIO(text.encode()), title=title_of(file))
    deadline = Deadline(time.monotonic, time.monotonic() + MOST_S_OF_FILE)
    inventory.files.append(_read_place(place, inventory, deadline))
    return inventory


def _read_place(
    place: Place, inventory: Inventory, deadline: Deadline, claim: Claim | None = None
) -> FileRead:
    if place.skipped:
        return _left_out(place.name, place.skipped)
    known = {"host": place.host, "rank": place.rank}
    scribe = Scribe(inventory, place.name, {name: said for name, said in known.items() if said})
    scribe.time_s = place.sampled_s
    if place.sampled_s is not None:
        inventory.samples.setdefault(sample_name(place.name), place.sampled_s)
    reading = Reading(engine(), scribe, claim=claim)
    assert place.stream is not None
    try:
        _read_stream(place.stream, place.title, reading, deadline)
    except OutOfTime:
        reading.cut_short("it took longer than it may")
    except TooLarge:
        reading.cut_short("it holds more than may be read")
    except UNREADABLE as error:
        reading.cut_short(f"it cannot be read: {error}")
    return reading.account()


def _read_stream(stream: Bytes, title: str, reading: "Reading", deadline: Deadline) -> None:
    head = _filled(stream)
    if _is_binary(head):
        reading.skipped = "it is not text"
        return
    head = _read_configuration(head, stream, reading)
    is_only = reading.is_configuration and not is_output(reading.scribe.file)
    if not is_only:
        reading.title(title)
    if not is_only or holds_state(reading.formats):
        head = _read_document(head, stream, title, reading)
    deadline.check()
    if is_only:
        reading.lines = reading.matched = head.count(b"\n") + 1
        return
    _read_lines(head, stream, title, reading, deadline)


def _read_configuration(head: bytes, stream: Bytes, reading: "Reading") -> bytes:
    """Read a file as a configuration, where it may be one; return what was taken of it."""
    if reading.claim is not None and may_be_configuration(reading.scribe.file, head):
        head += _filled(stream, MOST_DOCUMENT_BYTES + 1 - len(head))
        if len(head) <= MOST_DOCUMENT_BYTES:
            reading.configuration(head, reading.claim)
    return head


def _read_document(head: bytes, stream: Bytes, title: str, reading: "Reading") -> bytes:
    """Read a file as a document, where it is one; return what was taken of it."""
    front = _front_of_document(head)
    if front is None:
        return head
    head += _filled(stream, MOST_DOCUMENT_BYTES + 1 - len(head))
    if len(head) <= MOST_DOCUMENT_BYTES:
        if front:
            reading.line(1, head[:front])
        before = head[:front].count(b"\n")
        reading.is_document = reading.document(head[front:], title, before)
    return head


def _read_lines(
    head: bytes, stream: Bytes, title: str, reading: "Reading", deadline: Deadline
) -> None:
    repeats = reading.seen.repeats
    held = Held()
    for number, line in enumerate(_lines(head, stream, deadline), 1):
        if held.ends_before(line):
            reading.held(held, title)
            held = Held()
        if repeats(line):
            reading.repeated += 1
        elif reading.is_document or reading.is_spread or not held.holds(number, line):
            reading.line(number, line)
        elif held.is_whole:
            reading.held(held, title)
            held = Held()
    reading.held(held, title)
    reading.finish()


@dataclass(slots=True)
class Held:
    """Lines of a text that may be a document.

    JSON is from a brace at the margin to its end, an object in YAML from the version of its API
    to the first line that is none of YAML.
    """

    first: int = 0
    lines: list[bytes] = field(default_factory=list)
    size: int = 0

    def holds(self, number: int, raw: bytes) -> bool:
        """Keep a line where it is part of such a document; return whether it is."""
        front = raw[:_LONGEST_LABEL]
        if not self.lines and b"{" not in front and _YAML_FRONT not in front:
            return False
        plain = _unlabelled(raw.rstrip(b"\r\n"))
        if not self.lines and not plain.startswith((b"{", _YAML_FRONT)):
            return False
        self.first = self.first or number
        self.lines.append(plain)
        self.size += len(plain)
        return True

    def ends_before(self, raw: bytes) -> bool:
        """Return whether a line is no part of an object in YAML that was kept."""
        is_yaml = bool(self.lines) and self.lines[0].startswith(_YAML_FRONT)
        return is_yaml and not _YAML_LINE.match(raw.decode("utf-8", "replace"))

    @property
    def is_whole(self) -> bool:
        """Return whether the document ends here, or is longer than a document may be."""
        if self.lines[0].startswith(_YAML_FRONT):
            return self.size > MOST_DOCUMENT_BYTES
        last = self.lines[-1].rstrip()
        alone = len(self.lines) == 1 and last[-1:] == b"}"
        return alone or last == b"}" or self.size > MOST_DOCUMENT_BYTES


def _filled(stream: Bytes, size: int = BLOCK_BYTES) -> bytes:
    """Return the next bytes, all of them: a stream may give less than it is asked."""
    parts = []
    while size > 0 and (more := stream.read(min(size, BLOCK_BYTES))):
        parts.append(more)
        size -= len(more)
    return b"".join(parts)


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
    is_document: bool = False
    """Whether the file is a document that some kind knows: its lines are no log."""
    claim: Claim | None = None
    """What reads configurations."""
    is_configuration: bool = False
    """Whether it recognised the file: no line of it is trouble, or an output to compare."""
    is_spread: bool = False
    """Whether the lines are those of a document that was kept as sections."""
    unknown: Unknown = field(default_factory=Unknown)

    def title(self, title: str) -> None:
        """Read the name of the file as the command that wrote it."""
        if title:
            self.line(0, f"$ {title}".encode())
            self.lines = self.matched = 0

    def line(self, number: int, raw: bytes) -> None:
        """Read one line."""
        self.lines += 1
        if self.block is None and not raw.strip():
            return
        raw = _plain(raw)
        rows, opened = self.engine.matches(raw)
        if not rows and opened is None and self.block is None:
            self._keep(number, raw)
            return
        line = Line(number, raw.decode("utf-8", "replace"), raw)
        otherwise = bool(rows) and rows[0].tool == OTHERWISE
        hit = closes = False
        if rows and not otherwise:
            hit, closes = self._messages(rows, line)
        if closes or (opened is not None and opened is not self.opened):
            self._end()
        if opened is not None and self.block is None:
            self._begin(opened)
        read = self.block is not None and self._contained(
            number, self._format, self.block.read, raw, line
        )
        if otherwise and not read:
            self._strange(rows, line)
            self._keep(number, raw)
        elif read or hit:
            self.matched += 1
        elif number:
            self._keep(number, raw)

    def _strange(self, rows: Sequence[Row], line: Line) -> None:
        """Read a line that looks like trouble and that no other row knows."""
        if self.is_document or self.is_configuration or is_harmless(line.text):
            return
        self._messages(rows, line)
        if any(row.code for row in rows) and len(self.unread) < _MOST_NOTES:
            self.unread.append(self.scribe.evidence(line))

    def _messages(self, rows: Sequence[Row], line: Line) -> tuple[bool, bool]:
        """Read a message; return whether a row is about it, and whether one ends the block."""
        hits = [
            row for row in rows
            if self._contained(line.number, row.code or row.tool, row.read, line, self.scribe)
        ]  # fmt: skip
        return bool(hits), any(row.closes for row in hits)

    def _keep(self, number: int, raw: bytes) -> None:
        """Keep a line that no row knows, unless it is of a document kept as sections."""
        if not self.is_spread:
            self.unknown.keep(number, raw)

    def configuration(self, data: bytes, claim: Claim) -> None:
        """Read the file as a configuration, where it is one."""
        text = data.decode("utf-8", "replace")
        host = self.scribe.context.get("host", "")
        found = self._contained(1, "configuration", claim, self.scribe.file, host, text)
        self.formats |= dict.fromkeys(found or ())
        self.is_configuration = bool(found)

    def document(self, data: bytes, title: str, lines_before: int = 0) -> bool:
        """Read a document, where a kind of them knows it; return whether one does."""
        known = False
        for kind in kinds_of(data, lines_before):
            if not self.is_spread:
                self._spread(kind)
            if self._contained(lines_before + 1, kind.name, kind.read, title, self.scribe):
                self.formats[kind.name] = None
                self.matched += data.count(b"\n") + 1
                known = True
        return known

    def _spread(self, document: Parsed) -> None:
        """Keep a document as sections of lines: what rows do not know of it is unknown text."""
        self.is_spread = True
        for place, text in sections(document.value):
            self.unknown.keep(document.lines.get(place, document.first), text.encode())

    def held(self, found: Held, title: str) -> None:
        """Read lines that may be a document: as one, and as the lines that they are."""
        is_log = len(found.lines) == 1 and any(key in found.lines[0] for key in _TEXT_BYTES)
        whole = b"\n".join(found.lines)
        self.is_document = not is_log and self.document(whole, title, found.first - 1)
        for number, line in enumerate(found.lines, found.first):
            self.line(number, line)
        self.is_document = self.is_spread = False

    def finish(self) -> None:
        """End the last block."""
        self._end()
        if self.is_configuration:
            self.matched = self.lines
            return
        output = series(self.scribe.file).rpartition("/")[2]
        alone = self.matched <= max(1, _KNOWN_RATIO * self.lines)
        if alone:  # counters of an unknown output are judged together
            self.unread = [line for line in self.unread if not is_count(line.text)]
        self._contained(0, "unknown", self.unknown.read, output, self.scribe, alone=alone)

    def cut_short(self, why: str) -> None:
        """Note that the rest of the file was not read; what was read of it counts."""
        self._end()
        if self.lines:
            self.notes.append(f"after line {self.lines + self.repeated}: {why}")
        else:
            self.skipped = why
            self.notes.append(why)

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
            self._contained(self.lines + self.repeated, self._format, self.block.end)
        self.block = self.opened = None

    @property
    def _format(self) -> str:
        return self.opened.name if self.opened else ""

    def _contained(
        self,
        line: int,
        reader: str,
        act: Callable[..., T],
        *given: Any,  # noqa: ANN401 - what the reader takes
        **named: Any,  # noqa: ANN401
    ) -> T | None:
        """Do something with untrusted input; a failure is a note: file, line and reader."""
        try:
            return act(*given, **named)
        except Exception as error:  # noqa: BLE001 - whatever a reader trips over
            if len(self.notes) < _MOST_NOTES:
                self.notes.append(
                    f"line {line}: the reader {reader} failed: {type(error).__name__}: "
                    f"{str(error)[:_LONGEST_WHY]}"
                )
            return None


def _plain(raw: bytes) -> bytes:
    """Return a line without colours, quotation marks and stamps of launchers."""
    raw = _unlabelled(raw.rstrip(b"\r\n"))
    return _unwrapped(raw) if raw[:1] == b"{" and raw[-1:] == b"}" else raw


def _unlabelled(raw: bytes) -> bytes:
    """Return a line without colours, quotation marks and what launchers write before it."""
    if b"\x1b" in raw:
        raw = _ESCAPES.sub("", raw.decode("utf-8", "replace")).encode()
    if raw[:1] == b">" or b"<std" in raw[:80]:
        raw = _FRONT.sub("", raw.decode("utf-8", "replace")).encode()
    if b":" in raw[1:7] and (found := _RANK.match(raw.decode("utf-8", "replace"))):
        raw = found[1].encode()
    return raw


_TEXT_KEYS: Final = ("MESSAGE", "message", "msg", "log")
_TEXT_BYTES: Final = tuple(f'"{key}"'.encode() for key in _TEXT_KEYS)
_HOST_KEYS: Final = ("_HOSTNAME", "host", "hostname", "node")


def _unwrapped(raw: bytes) -> bytes:
    """Return a record of a log written as JSON as a line of syslog: its host, then its text."""
    if not any(item in raw for item in _TEXT_BYTES):
        return raw
    try:
        record = json_value(raw)
    except Malformed:
        return raw
    text = next((record[key] for key in _TEXT_KEYS if isinstance(record.get(key), str)), "")
    host = next((record[key] for key in _HOST_KEYS if isinstance(record.get(key), str)), "")
    front = (
        f"Jan 01 00:00:00 {host} {record.get('SYSLOG_IDENTIFIER') or 'log'}: " if host else ""
    )
    return f"{front}{text.strip()}".encode() if text.strip() else raw


def _lines(head: bytes, stream: Bytes, deadline: Deadline) -> Iterator[bytes]:
    """Yield the lines of a stream, of which the first part was read."""
    head, stream = _as_utf8(head, stream)
    rest = b""
    while head:
        deadline.check()
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
    converted = _Utf16(Joined(head, stream))
    return converted.read(BLOCK_BYTES), converted


class _Utf16:
    """A stream of UTF-16 as UTF-8."""

    def __init__(self, stream: Bytes) -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder("utf-16")("replace")

    def read(self, size: int, /) -> bytes:
        """Return the next bytes, none at the end."""
        while data := self._stream.read(size):
            if text := self._decoder.decode(data):
                return text.encode("utf-8", "replace")
        return self._decoder.decode(b"", final=True).encode("utf-8", "replace")


def _is_binary(head: bytes) -> bool:
    utf16 = head[:2] in {b"\xff\xfe", b"\xfe\xff"}
    return not utf16 and b"\0" in head[:4096] and head[:2] != b"\x80\x02"


def _front_of_document(head: bytes) -> int | None:
    """Return how many bytes stand before a document: a prompt, or None where there is none."""
    if _is_document(head):
        return 0
    prompt, _, rest = head[:2048].partition(b"\n")
    is_prompt = any(mark in prompt for mark in (b"$ ", b"# ", b"> ", b"~$", b"#"))
    return len(prompt) + 1 if is_prompt and rest and _is_document(rest) else None


def _is_document(head: bytes) -> bool:
    front = head[:512].lstrip(b"\xef\xbb\xbf \t\r\n")
    if front[:1] == b"[":
        return front[1:].lstrip()[:1] in {b"{", b"]", b"[", b'"'}
    return front[:1] in {b"{", b"<"} or is_yaml_object(head[:4096].decode("utf-8", "replace"))


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
