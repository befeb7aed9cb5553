"""What was found in a line, kept for the same line of another host."""

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Final, TypeVar

Owner = TypeVar("Owner")
Found = TypeVar("Found")
_MOST_LINES: Final = 1 << 14
_LONGEST: Final = 400
"""Bytes of a line that is kept: lines can be megabytes."""


def remembered(find: Callable[[Owner, bytes], Found]) -> Callable[[Owner, bytes], Found]:
    """Return a pure function of an owner and a line, which keeps what it found in short lines.

    Outputs of many hosts have most of their lines in common.
    """
    known = lru_cache(maxsize=_MOST_LINES)(find)

    @wraps(find)
    def recall(owner: Owner, raw: bytes) -> Found:
        return known(owner, raw) if len(raw) <= _LONGEST else find(owner, raw)

    return recall
