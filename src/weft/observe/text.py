"""From bytes to lines: what pasting, terminals and other systems do to text is undone.

Nothing here changes the number of lines, so line numbers stay those of the file.
"""

import codecs
import re
from collections.abc import Iterator
from typing import Protocol

from weft.observe.envelopes import Columns, unwrapped
from weft.observe.labels import unnumbered

BLOCK_BYTES = 1 << 18
LONGEST_LINE = 1 << 16
LONGEST_HEADING = 1000
BLOCKS_IN_VAIN = 16
"""A paste is short; a log that carries marks on its lines carries them from its beginning."""
_ANSI = re.compile(
    r"\x1b(?:\[[0-9;?]{0,32}[ -/]{0,4}[@-~]|\][^\x07\x1b]{0,512}(?:\x07|\x1b\\)"
    r"|[()][0-9A-B]|[=>78DEHM])"
)
_LEFT_OF_ANSI = re.compile(
    r"(?:\^\[|\\u001[bB]|\\x1[bB]|\\0?33|\\e|#033|\u241b)\[(?:\d{1,3}(?:;\d{1,3}){0,5})?[mK]"
    r"|\[\d{1,3}(?:;\d{1,3}){0,5}m(?:\[K)?|\[m\[K"
)
"""Colours whose escape character was lost on the way, or written out."""
_TAG = re.compile(
    r"</?(?:p|br|div|span|pre|code|samp|kbd|tt|td|tr|th|table|tbody|li|ul|ol|b|i|em|strong|font|"
    r"html|body|blockquote|summary|details)(?: [^<>\n]{0,200})?/?>"
)
_PLAIN = {"lt": "<", "gt": ">", "amp": "&", "quot": '"', "apos": "'", "#39": "'", "#x27": "'",
          "#34": '"', "nbsp": " ", "#160": " ", "#xA0": " "}  # fmt: skip
_ENTITY = re.compile(f"&({'|'.join(_PLAIN)});")
_LINK = re.compile(r"\[([^\[\]]{1,200})\]\(https?://[^()\s]{1,400}\)")
_TICKED = re.compile(r"^[ \t]{0,8}`([^`\n]{2,4000})`[ \t]{0,8}$", re.MULTILINE)
_BOLD = re.compile(r"^[ \t]{0,8}\*\*([^*\n]{2,4000})\*\*[ \t]{0,8}$", re.MULTILINE)
_QUOTE = re.compile(r"^(?:> ?){1,6}", re.MULTILINE)
_QUOTED = re.compile(r"(?:^>[^\n]*(?:\n|\Z)){2,}", re.MULTILINE)
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
_WIDE = " " * 256
_GAP = re.compile(r"[ \t]{256,}")
"""No table is so wide; so no expression spends long on what is no text."""
_CELLS = re.compile(r"(?:\|[^|\n]*+\|[ \t]*+\n)*\|[^|\n]*\|")
_CELL = re.compile(r"^\| ?([^|\n]*?)[ \t]*\|[ \t]*$", re.MULTILINE)
_BINARY_RATIO = 0.02
_FEWEST_INDENTED = 3
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
        return head + self._rest.read(size - len(head)) if len(head) < size else head


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
    if _WIDE in block:
        block = _GAP.sub(_WIDE, block)
    return block


def unpasted(block: str) -> str:
    r"""Undo what pages, mails and lost colours add to a block of lines.

    >>> unpasted("> &quot;a&quot;\n> [31m<b>b</b>[0m")
    '"a"\nb'
    """
    if "](http" in block:
        block = _LINK.sub(r"\1", block)
    if "`" in block or "*" in block:
        block = _BOLD.sub(r"\1", _TICKED.sub(r"\1", block))
    if "</" in block or "<br" in block:
        block = _TAG.sub("", block)
    if "&" in block:
        block = _ENTITY.sub(lambda found: _PLAIN[found[1]], block)
    if "[0m" in block or "[m" in block or "[39m" in block:
        block = _LEFT_OF_ANSI.sub("", block)
    if block.startswith(">") or "\n>" in block:
        block = _unquoted(block)
    if block[:1] in {" ", "\t"}:
        block = _undented(block)
    elif block.startswith("|") and _CELLS.fullmatch(block.rstrip("\n")):
        block = _CELL.sub(r"\1", block)
    return unnumbered(unwrapped(block))


def _undented(block: str) -> str:
    """Take off what the first line of a block is indented by, where all lines are."""
    lines = block.split("\n")
    full = [line for line in lines if line.strip()]
    margin = full[0][: len(full[0]) - len(full[0].lstrip())] if full else ""
    if len(full) < _FEWEST_INDENTED or not all(line.startswith(margin) for line in full):
        return block
    return "\n".join(line.removeprefix(margin) for line in lines)


def _unquoted(block: str) -> str:
    """Take the marks of quoted mail off, line by line where several in a row have them."""
    return _QUOTED.sub(lambda found: _QUOTE.sub("", found[0]), block)


def blocks(stream: Bytes) -> Iterator[str]:
    """Yield the text of a stream in blocks of whole lines, undone what pasting did to them.

    Where many blocks in a row needed none of the rarer repairs they are sought no more.
    """
    columns, in_vain = None, 0
    for raw in _whole_lines(stream):
        block = clean(_bounded(raw))
        if in_vain < BLOCKS_IN_VAIN:
            mended = unpasted(block)
            in_vain = in_vain + 1 if mended == block else 0
            block = mended
        if columns is None:
            columns = Columns(block.lstrip()[:LONGEST_HEADING])
        yield columns.rows(block) if columns.known else block


def _whole_lines(stream: Bytes) -> Iterator[str]:
    """Yield the text of a stream in blocks of whole lines."""
    chunk = stream.read(BLOCK_BYTES)
    decoder = _decoder(chunk)
    carry, overlong, waiting = "", False, None
    while chunk:
        carry, overlong, block = _cut(carry + decoder.decode(chunk), overlong=overlong)
        if block is not None:
            if waiting is not None:
                yield waiting
            waiting = block
        chunk = stream.read(BLOCK_BYTES)
    carry += decoder.decode(b"", final=True)
    last = [carry] if carry and not overlong else []
    if waiting is not None or last:  # a last line without an end belongs to what is before it
        yield "\n".join([*([] if waiting is None else [waiting]), *last])


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
