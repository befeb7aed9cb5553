"""From bytes to lines: what pasting, terminals and other systems do to text is undone.

Nothing here changes the number of lines, so line numbers stay those of the file.
"""

import codecs
import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Protocol

BLOCK_BYTES = 1 << 18
LONGEST_LINE = 1 << 16
_ANSI = re.compile(
    r"\x1b(?:\[[0-9;?]{0,32}[ -/]{0,4}[@-~]|\][^\x07\x1b]{0,512}(?:\x07|\x1b\\)"
    r"|[()][0-9A-B]|[=>78DEHM])"
)
_LINK = re.compile(r"\[([^\[\]]{1,200})\]\(https?://[^()\s]{1,400}\)")
_TICKED = re.compile(r"^[ \t]{0,8}`([^`\n]{2,4000})`[ \t]{0,8}$", re.MULTILINE)
_BOLD = re.compile(r"^[ \t]{0,8}\*\*([^*\n]{2,4000})\*\*[ \t]{0,8}$", re.MULTILINE)
_QUOTE = re.compile(r"^> ?")
_MOSTLY = 0.7
_PASTED = str.maketrans(
    {
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033", '"'),
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032", "'"),
        **dict.fromkeys("\u00a0\u2007\u202f\u2002\u2003\u2009", " "),
        **dict.fromkeys("\ufeff\u200b\u200c\u200d\u2060", ""),
        **dict.fromkeys("\u2010\u2011\u2013\u2014\u2212", "-"),
    }
)
_MARKS_OF_ORDER = ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_WRAPPED = ('"MESSAGE"', '"log"')
"""What the lines of journald (``-o json``) and of Docker's log files hold."""
_LONGEST_MICRO = 17
_WIDE = " " * 256
_GAP = re.compile(r"[ \t]{256,}")
"""No table is so wide; so no expression spends long on what is no text."""
_BINARY_RATIO = 0.02
_TEXT_CONTROLS = frozenset(b"\t\n\r\x0b\x0c\x1b\x08\x07")


class Bytes(Protocol):
    """A stream of bytes."""

    def read(self, size: int, /) -> bytes:
        """Return the next bytes, none at the end."""


class Joined:
    """A stream whose beginning was already read, or has to be said first."""

    def __init__(self, head: bytes, rest: Bytes) -> None:
        """Begin with the head."""
        self._head, self._rest = head, rest

    def read(self, size: int, /) -> bytes:
        """Return the next bytes, the head first."""
        head, self._head = self._head[:size], self._head[size:]
        return head or self._rest.read(size)


def looks_binary(head: bytes) -> bool:
    """Return whether the beginning of a file is no text."""
    if not head or any(head.startswith(mark) for mark, _ in _MARKS_OF_ORDER):
        return False
    controls = sum(head.count(bytes((b,))) for b in range(32) if b not in _TEXT_CONTROLS)
    return controls > _BINARY_RATIO * len(head)


def clean(block: str) -> str:
    """Undo colours, carriage returns, typographic quotes and links in a block of lines."""
    if "\x1b" in block:
        block = _ANSI.sub("", block)
    if "\r" in block:
        block = block.replace("\r\n", "\n").replace("\r", " ")
    if "\0" in block:
        block = block.replace("\0", "")
    if not block.isascii():
        block = block.translate(_PASTED)
    if "](http" in block:
        block = _LINK.sub(r"\1", block)
    if "`" in block or "**" in block:
        block = _BOLD.sub(r"\1", _TICKED.sub(r"\1", block))
    if "&lt;" in block or "&gt;" in block or "&amp;" in block:
        block = block.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    if _WIDE in block:
        block = _GAP.sub(_WIDE, block)
    if any(mark in block for mark in _WRAPPED):
        block = "\n".join(map(_unwrapped, block.split("\n")))
    return _unquoted(block) if block.startswith(">") else block


def _unquoted(block: str) -> str:
    """Take the marks of quoted mail off, where most lines have them."""
    lines = block.split("\n")
    marked = sum(line.startswith(">") for line in lines)
    if marked <= _MOSTLY * sum(not line.isspace() and line != "" for line in lines):
        return block
    return "\n".join(_QUOTE.sub("", line) for line in lines)


def _unwrapped(line: str) -> str:
    r"""Return the text that a line of a log in JSON carries, or the line.

    >>> _unwrapped(r'{"log":"NCCL INFO x\n","stream":"stdout","time":"2026-01-02T00:00:01Z"}')
    '2026-01-02T00:00:01Z NCCL INFO x'
    """
    if not line.startswith("{") or not any(mark in line for mark in _WRAPPED):
        return line
    try:
        held = json.loads(line)
    except (ValueError, RecursionError):
        return line
    text = held.get("MESSAGE", held.get("log")) if isinstance(held, dict) else None
    if (
        not isinstance(text, str)
        or not {"time", "stream", "_HOSTNAME", "PRIORITY"} & held.keys()
    ):
        return line
    who = [str(held[name]) for name in ("_HOSTNAME", "SYSLOG_IDENTIFIER") if name in held]
    said = " ".join([*_when(held), *who[:1], *(f"{one}:" for one in who[1:]), text.rstrip()])
    return said.replace("\n", " ")


def _when(held: dict[str, object]) -> Iterator[str]:
    """Yield when a line was written, as logs write it."""
    if isinstance(held.get("time"), str):
        yield str(held["time"])[:40]
    micro = str(held.get("__REALTIME_TIMESTAMP", ""))
    if micro.isdigit() and len(micro) <= _LONGEST_MICRO:
        yield datetime.fromtimestamp(int(micro) * 1e-6, UTC).isoformat()


def blocks(stream: Bytes) -> Iterator[str]:
    """Yield the text of a stream in blocks of whole lines, each line cut at a bound."""
    chunk = stream.read(BLOCK_BYTES)
    decoder = _decoder(chunk)
    carry, overlong, waiting = "", False, None
    while chunk:
        carry, overlong, block = _cut(carry + decoder.decode(chunk), overlong=overlong)
        if block is not None:
            if waiting is not None:
                yield clean(_bounded(waiting))
            waiting = block
        chunk = stream.read(BLOCK_BYTES)
    carry += decoder.decode(b"", final=True)
    last = [carry] if carry and not overlong else []
    if waiting is not None or last:  # a last line without an end belongs to what is before it
        yield clean(_bounded("\n".join([*([] if waiting is None else [waiting]), *last])))


def _decoder(first: bytes) -> codecs.IncrementalDecoder:
    names = (name for mark, name in _MARKS_OF_ORDER if first.startswith(mark))
    return codecs.getincrementaldecoder(next(names, "utf-8"))(errors="replace")


def _cut(text: str, *, overlong: bool) -> tuple[str, bool, str | None]:
    """Split text into its open last line and the whole lines before it, if any.

    ``overlong`` says that the text begins within a line of which enough was given.
    """
    if overlong:
        _, newline, text = text.partition("\n")
        if not newline:
            return "", True, None
    head, newline, carry = text.rpartition("\n")
    if newline:
        return carry, False, head
    if len(text) > LONGEST_LINE:
        return "", True, text
    return text, False, None


def _bounded(block: str) -> str:
    lines = block.split("\n")
    if max(map(len, lines)) <= LONGEST_LINE:
        return block
    return "\n".join(line[:LONGEST_LINE] for line in lines)
