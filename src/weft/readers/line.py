"""One line of a file."""

from typing import NamedTuple


class Line(NamedTuple):
    """A line and its number, from 1; the name of a file is read as its line 0."""

    number: int
    text: str
    raw: bytes
    """The same as bytes, which patterns are searched in: that is faster."""
