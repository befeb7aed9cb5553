"""Reading a folder of published measurements: CSV files as rows of text."""

import csv
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from weft.accuracy.kind import Row
from weft.errors import Unreadable

SHIPPED: Final = Path(__file__).with_name("data")
"""The figures that come with weft."""
_SPLIT: Final = " index "
"""What follows a comma that belongs to a source and was written without quotes."""


def read(folder: Path) -> dict[str, list[Row]]:
    """Read every CSV file of a folder, by its name without the ending."""
    if not folder.is_dir():
        raise Unreadable(f"{folder}: no such folder; give one with the files of accuracy/data")
    return {path.stem: rows(path) for path in sorted(folder.glob("*.csv"))}


def rows(path: Path) -> list[Row]:
    """Read one CSV file; a row shorter or longer than its head is read as far as it goes."""
    try:
        text = path.read_text("utf-8-sig", errors="replace")
    except OSError as error:
        raise Unreadable(f"{path}: {error.strerror}") from error
    lines = (line.replace("\0", "") for line in text.splitlines(keepends=True))
    return list(_records(csv.reader(lines)))


def _records(cells: Iterable[list[str]]) -> Iterator[Row]:
    head: list[str] | None = None
    for record in cells:
        if head is None:
            head = [name.strip() for name in record]
        elif any(cell.strip() for cell in record):
            joined = rejoined(record, len(head))
            yield dict(zip(head, joined + [""] * (len(head) - len(joined)), strict=False))


def rejoined(record: list[str], width: int) -> list[str]:
    """Mend a row whose source held a comma without quotes, so that it has a cell too many.

    >>> rejoined(["x1", "public file", " index 42", "3"], 3)
    ['x1', 'public file, index 42', '3']
    """
    mended = list(record)
    place = 1
    while len(mended) > width and place < len(mended):
        if mended[place].startswith(_SPLIT):
            mended[place - 1 : place + 1] = [f"{mended[place - 1]},{mended[place]}"]
        else:
            place += 1
    return mended


def identity(row: Row) -> str:
    """Return the name of a row in its file: ``run_id`` or ``row_id``."""
    return row.get("run_id") or row.get("row_id") or ""
