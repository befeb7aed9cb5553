"""The journal of a study: rows as they are done, so that a run that ends early is gone on with.

One JSON document a line: the study first, then a row each. The last line may be cut.
"""

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final, Protocol

from weft.errors import SpecError, Unreadable
from weft.predict.provenance import weft_version

if TYPE_CHECKING:
    from weft.spec.document import Tree
    from weft.spec.study import Study
    from weft.study.task import Row

SUFFIX: Final = ".journal"


class Writer(Protocol):
    """Adds one row to the journal."""

    def __call__(self, number: int, row: "Row") -> None:
        """Write the row of a point; it is on the disk when this returns."""


def journal_of(out: Path) -> Path:
    """Return where the journal of a table is."""
    return out.with_name(out.name + SUFFIX)


def fingerprint(study: "Study", documents: tuple["Tree", ...]) -> str:
    """Return what must be equal for rows of an earlier run to be of this study."""
    told = [weft_version(), study.model_dump(mode="json"), [tree.data for tree in documents]]
    return hashlib.sha256(json.dumps(told, default=str).encode()).hexdigest()


def read_rows(file: Path, wanted: str) -> dict[int, "Row"]:
    """Return the rows of an earlier run by number; none where there is no journal.

    Raises SpecError where the journal is another study's.
    """
    if not file.is_file():
        return {}
    lines = file.read_text("utf-8").splitlines()
    if not lines or _parsed(lines[0]).get("study") != wanted:
        raise SpecError(
            f"{file}: holds points of another study, of other documents or of another weft; "
            "remove it, or start again with --fresh"
        )
    rows = (_parsed(line) for line in lines[1:])
    return {row["number"]: row["row"] for row in rows if "number" in row}


def _parsed(line: str) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


@contextmanager
def appending(file: Path, wanted: str) -> Iterator[Writer]:
    """Open a journal to add rows to; begin it where there is none."""
    try:
        begun = file.is_file()
        with file.open("ab+") as stream:
            if begun:
                _end_cut_line(stream)
            else:
                stream.write(json.dumps({"study": wanted}).encode() + b"\n")

            def write(number: int, row: "Row") -> None:
                stream.write(json.dumps({"number": number, "row": row}).encode() + b"\n")
                stream.flush()

            yield write
    except OSError as error:
        raise Unreadable(f"{file}: cannot be written: {error.strerror or error}") from error


def _end_cut_line(stream: BinaryIO) -> None:
    stream.seek(-1, 2)
    if stream.read(1) != b"\n":
        stream.write(b"\n")
