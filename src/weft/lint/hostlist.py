"""Lists of hosts as Slurm writes them."""

from collections.abc import Iterator
from itertools import product
from typing import Any, Final

import re2

MOST: Final = 200_000
_PART: Final = re2.compile(r"(?:[^,\[]|\[[^\]]*\]?)+")
_RANGE: Final = re2.compile(r"(\d+)(?:-(\d+))?")


def expand(text: str) -> tuple[str, ...]:
    """Return the names of a list of hosts.

    >>> expand("gpu[01-03],login")
    ('gpu01', 'gpu02', 'gpu03', 'login')
    """
    found: list[str] = []
    for part in _PART.findall(text):
        for name in _expand_one(part):
            found.append(name)
            if len(found) >= MOST:
                return tuple(found)
    return tuple(found)


def turned(text: str) -> str:
    """Return the first range that ends before it begins, or that no number has the width of.

    >>> turned("gpu[01-03],login"), turned("gpu[09-01]"), turned("gpu[7-0019]")
    ('', '09-01', '7-0019')
    """
    for inside in re2.findall(r"\[([^\]]*)\]", text):
        for part in inside.split(","):
            match = _RANGE.fullmatch(part.strip())
            if match and match[2] and (int(match[2]) < int(match[1]) or _padded(match)):
                return str(match[0])
    return ""


def _padded(match: Any) -> bool:  # noqa: ANN401 - re2 has no types
    """Tell whether the end alone is padded with zeros: the beginning gives the width."""
    return match[2].startswith("0") and len(match[2]) > len(match[1])


def _expand_one(part: str) -> Iterator[str]:
    pieces = re2.split(r"\[([^\]]*)\]", part)
    choices = [
        list(_numbers(piece)) if number % 2 else [piece] for number, piece in enumerate(pieces)
    ]
    for pair in product(*choices):
        yield "".join(pair)


def _numbers(text: str) -> Iterator[str]:
    for part in text.split(","):
        match = _RANGE.fullmatch(part.strip())
        if match is None:
            yield part
        elif match[2] is None:
            yield match[1]
        else:
            last = min(int(match[2]), int(match[1]) + MOST)
            for number in range(int(match[1]), last + 1):
                yield f"{number:0{len(match[1])}d}"
