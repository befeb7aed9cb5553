"""Many patterns matched at once, in time linear in the text."""

from collections.abc import Sequence
from functools import cache
from typing import Any, Final

import re2

_MEMORY_BYTES: Final = 64 << 20
"""What the automaton of a set may take; it starts again when that is full."""


class Matcher:
    """Patterns that are matched together."""

    def __init__(self, patterns: Sequence[str]) -> None:
        """Compile the patterns; which ones match is answered by their position."""
        options = re2.Options()
        options.max_mem = _MEMORY_BYTES
        options.log_errors = False
        self._set = re2.Set.SearchSet(options)
        for pattern in patterns:
            self._set.Add(pattern)
        if patterns:
            self._set.Compile()
        self._empty = not patterns

    def match(self, line: bytes | str) -> Sequence[int]:
        """Return the positions of the patterns that occur in a line."""
        return () if self._empty else self._set.Match(line) or ()


@cache
def pattern(text: str) -> Any:  # noqa: ANN401 - re2 has no types
    """Return a pattern of a table, compiled once."""
    return re2.compile(text)
