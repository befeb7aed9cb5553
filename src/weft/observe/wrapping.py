"""Lines that a terminal or a mail program broke at its width are put together again.

A text may have been broken where lines have the width that none exceeds and go on in lines
that begin like no other. Tables look so too: whether it was is for who reads both to say. What
belongs to one line is joined in its first, blank lines stand for the rest: numbers of lines
stay those of the file.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

_NARROWEST, _WIDEST = 60, 400
_WIDEST_MAIL = 132
_MOST_ODD_RATIO = 0.2
_FULL_RATIO = 0.6
_MOST_JOINED = 64
_RULES: Final = frozenset("|+-=*#_~<")
_DIGITS = re.compile(r"[0-9a-fA-F]*\d[0-9a-fA-F]*")
_LOOKED_AT = 60
_PROMPT = re.compile(
    r"[#$>] |[\w.-]{1,60}@[\w.-]{1,60}[: ][^$#]{0,80}[$#] |\[[^\]]{3,80}\][$#] "
)
"""How lines begin that somebody typed: a terminal may cut them, nobody folds them."""
_BEGINS = re.compile(
    r"\s|[\w.-]{1,40}:\t|[#$>|+*`{}]|-{2}|\[\s*\d{1,9}\.\d|\[?\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d|"
    r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun|Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) |"
    r"\[\d{1,6},\d{1,6}\]<|\[rank\d|\[pod/|\([\w.]{1,60} pid=|[\w.<>-]{1,100}:\d{1,8}:\d{1,8} |"
    r"[a-z][\w.-]{1,30}: (?:ib)?(?:error|warn|panic)|Couldn't |"
    r"NCCL (?:INFO|WARN)|[EWIF]\d{4} \d\d:|[\w.-]{1,60}@[\w.-]{1,60}[: ][^$#]{0,80}[$#] |"
    r"(?:apiVersion|kind|metadata|spec|status|data|items):(?: |$)"
)
"""How lines begin that go on from none: stamps, labels, prompts, rules, indents, keys."""


def unbroken(block: str) -> Iterator[str]:
    r"""Yield a text with the lines joined that may have been broken at a width.

    >>> long = "n1:1:2 [0] NCCL WARN " + "x" * 70 + " status=12"
    >>> text = "\n".join(part for _ in "ab" for part in (long[:80], long[80:]))
    >>> next(unbroken(text)).split("\n") == [long, "", long, ""]
    True
    """
    lines = block.split("\n")
    lengths = list(map(len, lines))
    width = max(lengths)
    if not _NARROWEST <= width <= _WIDEST:
        return
    cut = _cut_at(lines, lengths, width)
    if cut:
        yield "\n".join(_joined(lines, cut, ""))
    folded = _folded_at(lines, lengths, width) if width <= _WIDEST_MAIL else set()
    if folded:
        yield "\n".join(_joined(lines, folded, " "))


def _cut_at(lines: Sequence[str], lengths: Sequence[int], width: int) -> set[int]:
    """Return which lines go on in the next, in a text cut at exactly a width."""
    full = [n for n, length in enumerate(lengths[:-1]) if length == width]
    may = [n for n in full if _may_go_on(lines[n], lines[n + 1])]
    if not may or _too_odd(len(may), len(full)):
        return set()
    heads = _heads(lines, set(full))
    goes_on = {n for n in may if _head(lines[n + 1].removeprefix(" ")) not in heads}
    return set() if _too_odd(len(goes_on), len(full)) else goes_on


def _folded_at(lines: Sequence[str], lengths: Sequence[int], width: int) -> set[int]:
    """Return which lines go on in the next, in a text folded between words."""
    least = int(_FULL_RATIO * width)
    near = [n for n, length in enumerate(lengths[:-1]) if length >= least]
    may = [
        n for n in near
        if _may_go_on(lines[n], lines[n + 1]) and not _PROMPT.match(lines[n])
    ]  # fmt: skip
    if not may:
        return set()
    heads = _heads(lines, set(near))
    asked = [n for n in may if _head(lines[n + 1]) not in heads]
    goes_on = {n for n in asked if _had_no_room(lines[n], lines[n + 1], width)}
    return set() if _too_odd(len(goes_on), len(asked)) else goes_on


def _too_odd(fit: int, of: int) -> bool:
    """Return whether too few fit of those that look alike."""
    return fit < (1 - _MOST_ODD_RATIO) * of


def _had_no_room(line: str, after: str, width: int) -> bool:
    return len(line) + 1 + len(after.split(" ", 1)[0]) > width


def _heads(lines: Sequence[str], cut: set[int]) -> set[str]:
    """Return how lines begin that surely go on from none: after a blank or a short line."""
    first = (line for n, line in enumerate(lines) if n - 1 not in cut)
    return {head for line in first if (head := _head(line))}


def _head(line: str) -> str:
    """Return the first word of a line, its numbers alike."""
    word = line[:_LOOKED_AT].split(" ", 1)[0].split("\t", 1)[0]
    return _DIGITS.sub("0", word)


def _may_go_on(line: str, after: str) -> bool:
    """Return whether a line may go on in the next, by how that begins."""
    if not after or after.isspace() or (line[-1] in _RULES and after[0] in _RULES):
        return False
    if after[0] == " " and after[1:2] != " ":
        after = after[1:]  # broken before a space
    return not _BEGINS.match(after)


def _joined(lines: Sequence[str], goes_on: set[int], between: str) -> Iterator[str]:
    """Yield the lines, those that go on with what follows and blank lines after."""
    held: list[str] = []
    for n, line in enumerate(lines):
        held.append(line)
        if n not in goes_on or len(held) >= _MOST_JOINED:
            yield between.join(held)
            yield from [""] * (len(held) - 1)
            held.clear()
    if held:
        yield between.join(held)
        yield from [""] * (len(held) - 1)
