"""Texts whose newest line stands first are read in the order in which they were written.

``journalctl -r``, dashboards and exports of log stores print so. What a line follows from must
stand before it for readers that go on from line to line and for rules that ask what came first.
A text is turned only where its own stamps say that it runs backwards; lines keep the numbers
that they have in the file.
"""

import re
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import itemgetter

from weft.observe.facts.base import Clock, Moment
from weft.observe.moments import stamp

_HELD_BYTES = 1 << 22
"""So much is turned at once; the facts of longer texts are brought into order at their end."""
_LOOKED_AT = 48
"""Lines of a block, evenly apart, whose stamps tell whether all need to be looked at."""
_IN_VAIN = 16
_FEWEST_STEPS = 2
_FEWEST_UNDOUBTED = 4
"""Fewer steps back in time say nothing where much stands between the stamps."""
_ODD_RATIO = 0.1
"""Writers of one log get into each other's way: so few steps may go the other way."""
_STAMPED_RATIO = 0.75
_PARTS = re.compile(
    r"(?:[\w.@:~/\[\]() -]{0,80}[$#%]|[$#>]) +\S|[\w.-]{1,40}[#>]\s?show |```|==> .{1,200} <==|"
    r"[=#*]{3,}"
)
"""Prompts and headings: what stands below is another output."""

_Stamps = list[tuple[int, tuple[int, Moment]]]


@dataclass(frozen=True, slots=True)
class Stretch:
    """Lines in the order in which they were written, and as they stand in the file.

    ``places`` are the places in the file of the lines of ``text``, where they differ. A stretch
    that ``goes_on`` belongs to the turned one before it, so that its lines are older.
    """

    text: str
    as_it_stands: str
    places: Sequence[int] | None = None
    goes_on: bool = False


def in_time(blocks: Iterable[str]) -> Iterator[Stretch]:
    """Yield the blocks of a text, those turned that run backwards."""
    held: list[str] = []
    size = in_vain = 0
    goes_on = False
    for block in blocks:
        back = in_vain < _IN_VAIN and _may_run_backwards(block)
        in_vain = 0 if back else in_vain + 1
        if held and (not back or size >= _HELD_BYTES):
            yield _turned("\n".join(held), goes_on=goes_on)
            held, size, goes_on = [], 0, back
        if back:
            held.append(block)
            size += len(block)
        else:
            yield Stretch(block, block)
    if held:
        yield _turned("\n".join(held), goes_on=goes_on)


def turned(lines: Sequence[str]) -> list[int]:
    """Return the places of lines in the order in which they were written.

    >>> turned(["2026-01-01 00:00:09 b", "  of b", "2026-01-01 00:00:05 a", "", "$ ls"])
    [2, 0, 1, 3, 4]
    """
    order: list[int] = []
    for first, last in _outputs(lines):
        stamps = _stamps(lines, range(first, last))
        order.extend(_entries_turned(lines, first, last, stamps))
    return order


def run_backwards(heads: Sequence[str]) -> bool:
    """Return whether records, each by its first line, stand from the newest to the oldest."""
    stamps = _stamps(heads, range(len(heads)))
    return len(stamps) == len(heads) and _is_back(*_steps(stamps), sure=True)


def _turned(text: str, *, goes_on: bool) -> Stretch:
    lines = text.split("\n")
    order = turned(lines)
    if all(map(int.__eq__, order, range(len(order)))):
        return Stretch(text, text)
    inner = "\n".join(lines[place] for place in order)
    return Stretch(inner, text, array("l", order), goes_on)


class Order:
    """Where the lines of a text stand in the file, and which of them were written first."""

    def __init__(self) -> None:
        """Begin with nothing turned."""
        self._firsts: list[int] = []
        self._lasts: list[int] = []
        self._places: list[Sequence[int]] = []
        self._runs: list[int] = []

    def __bool__(self) -> bool:
        """Return whether anything was turned."""
        return bool(self._firsts)

    def add(self, stretch: Stretch, lines_before: int) -> None:
        """Note a stretch that was turned, below so many lines."""
        if stretch.places is None:
            return
        follows = stretch.goes_on and self._lasts and self._lasts[-1] == lines_before
        self._runs.append(self._runs[-1] if follows else len(self._firsts))
        self._firsts.append(lines_before + 1)
        self._lasts.append(lines_before + len(stretch.places))
        self._places.append(stretch.places)

    def line(self, number: int) -> int:
        """Return the number in the file of a line that was read as so many-th."""
        at = bisect_right(self._firsts, number) - 1
        if at < 0 or number > self._lasts[at]:
            return number
        return self._firsts[at] + self._places[at][number - self._firsts[at]]

    def written(self, number: int) -> int:
        """Return the place in time of a line that was read as so many-th."""
        at = bisect_right(self._firsts, number) - 1
        if at < 0 or number > self._lasts[at]:
            return number
        run = self._runs[at]
        last = self._lasts[bisect_right(self._runs, run) - 1]
        return self._firsts[run] + last - self._lasts[at] + number - self._firsts[at]


def _may_run_backwards(block: str) -> bool:
    """Return whether a few lines of a block allow that it runs backwards."""
    lines = block.split("\n")
    back, on, _ = _steps(_stamps(lines, range(0, len(lines), len(lines) // _LOOKED_AT + 1)))
    return back > 0 and back >= on / 2


def _outputs(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield where the outputs of a text begin and end."""
    first = 0
    for place, line in enumerate(lines):
        if (
            place > first
            and not line[:1].isdigit()
            and _PARTS.match(line)
            and stamp(line) is None
        ):
            yield first, place
            first = place
    yield first, len(lines)


def _stamps(lines: Sequence[str], places: Iterable[int]) -> _Stamps:
    return [(place, one) for place in places if (one := stamp(lines[place])) is not None]


def _steps(stamps: _Stamps) -> tuple[int, int, bool]:
    """Return how often stamps of one form go back and on, and whether they count from boot."""
    back = on = 0
    boot = False
    for (_, (form, before)), (_, (other, after)) in pairwise(stamps):
        if form == other and before.clock is after.clock:
            back += after.time_s < before.time_s
            on += after.time_s > before.time_s
            boot = boot or after.clock is Clock.BOOT
    return back, on, boot


def _is_back(back: int, on: int, boot: bool, *, sure: bool) -> bool:  # noqa: FBT001 - of _steps
    """Return whether so many steps say that a text runs backwards.

    One is enough where nothing stands between; times since boot may be of several hosts.
    """
    least = _FEWEST_STEPS if boot else 1
    return back >= (least if sure else _FEWEST_UNDOUBTED) and on <= _ODD_RATIO * back


def _entries_turned(
    lines: Sequence[str], first: int, last: int, stamps: _Stamps
) -> Iterable[int]:
    """Return the places of one output, its entries turned if they stand newest first."""
    begins = list(map(itemgetter(0), stamps))
    end = begins[-1] + 1 if begins else last
    while begins and end < last and lines[end][:1] in {" ", "\t"}:
        end += 1  # the last entry goes on in the lines that are indented
    full = sum(map(bool, map(str.strip, lines[begins[0] : end]))) if begins else 0
    indented = sum(lines[place][:1] in {" ", "\t"} for place in range(first, end))
    sure = len(begins) + indented >= _STAMPED_RATIO * full
    if not begins or not _is_back(*_steps(stamps), sure=sure):
        return range(first, last)
    parts = [range(a, b) for a, b in pairwise([*begins, end])]
    inner = [place for part in reversed(parts) for place in part]
    return [*range(first, begins[0]), *inner, *range(end, last)]
