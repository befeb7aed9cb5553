"""Tables of unknown outputs: the work on a file grows with its lines, not with their square."""

import sys

import pytest

from weft.inventory.inventory import Inventory
from weft.readers.line import Line
from weft.readers.scribe import Scribe
from weft.readers.unknown import Unknown

SHAPES = {
    "rules": "-" * 79,
    "parts of one value": "widget:\n  size: 1",
    "pairs": "widget: 3",
    "tables": " size  count\nwidget\n a  1\n b  2\n c  3",
}


def calls(text: str, times: int) -> int:
    """Return how many functions are called to read a text so many times after itself."""
    lines = (f"{text}\n" * times).splitlines()
    file = Unknown([Line(n, line, line.encode()) for n, line in enumerate(lines, 1)])
    count = 0

    def counted(_frame: object, event: str, _given: object) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(counted)
    try:
        file.read("widgets", Scribe(Inventory(), "widgets.txt"), alone=True)
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("shape", SHAPES)
def test_the_work_grows_with_the_lines(shape):
    few, many = calls(SHAPES[shape], 100), calls(SHAPES[shape], 400)
    assert many < 6 * few
