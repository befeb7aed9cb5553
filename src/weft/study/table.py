"""The table of a study on the disk: CSV, or Parquet through pyarrow."""

import csv
import os
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from weft.errors import SpecError, Unreadable
from weft.study.task import Cell

Rows = Sequence[Mapping[str, Cell]]


def check(out: Path) -> None:
    """Refuse a table that cannot be written before any point runs."""
    if out.suffix not in FORMS:
        raise SpecError(f"{out}: a table ends in {' or '.join(FORMS)}")
    if not out.parent.is_dir():
        raise Unreadable(f"{out}: folder {out.parent} does not exist; create it first")
    if out.suffix == ".parquet":
        _pyarrow()


def write(out: Path, rows: Rows) -> None:
    """Write all rows in one piece; columns are those of all rows, in the order they come."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    descriptor, temporary = tempfile.mkstemp(dir=out.parent, prefix=f".{out.name}.")
    os.close(descriptor)
    try:
        FORMS[out.suffix](Path(temporary), columns, rows)
        Path(temporary).chmod(0o644)
        Path(temporary).replace(out)
    except OSError as error:
        raise Unreadable(f"{out}: cannot be written: {error.strerror or error}") from error
    finally:
        Path(temporary).unlink(missing_ok=True)


def _csv(file: Path, columns: Sequence[str], rows: Iterable[Mapping[str, Cell]]) -> None:
    with file.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, columns, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def _parquet(file: Path, columns: Sequence[str], rows: Rows) -> None:
    arrow, parquet = _pyarrow()
    table = arrow.table({name: [row.get(name) for row in rows] for name in columns})
    parquet.write_table(table, file)


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow as pa  # noqa: PLC0415 - not installed everywhere
        from pyarrow import parquet  # noqa: PLC0415 - as above
    except ImportError as error:
        raise SpecError(
            "a .parquet table needs pyarrow: pip install 'weft[sweep]', or write .csv"
        ) from error
    return pa, parquet


FORMS: Final[Mapping[str, Callable[[Path, Sequence[str], Rows], None]]] = {
    ".csv": _csv, ".parquet": _parquet,
}  # fmt: skip
