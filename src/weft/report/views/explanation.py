"""`weft explain`: what was read of each kind of entity, events, and how much of each file."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from weft.inventory.explain import Explanation
from weft.inventory.inventory import FileRead
from weft.report.numbers import percent
from weft.report.page import Block, Columns, Table, View, table
from weft.report.views._provenance import paged

_MOST_ROWS = 25
_MOST_FILES = 60
_LONGEST_CELL = 60


def _blocks(result: Explanation) -> Iterator[Block]:
    yield _files(result.files)
    columns: Columns = {
        "entity": "entity", "attribute": "name", "value": lambda found: _cut(found.text),
        "times": "count", "line": lambda found: f"{found.file}:{found.line}",
    }  # fmt: skip
    by_kind = sorted(result.statements, key=lambda found: found.kind)
    for kind, group in groupby(by_kind, key=lambda found: found.kind):
        statements = list(group)
        rest = len(statements) - _MOST_ROWS
        yield table(
            statements[:_MOST_ROWS], columns, title=kind, left=(0, 1, 2, 4),
            notes=(f"and {rest} more; -o json has them all",) if rest > 0 else (),
        )  # fmt: skip


def _files(files: Sequence[FileRead]) -> Table:
    """Show how much of each file was read; of many files, those first that were not."""
    shown = sorted(files, key=lambda file: (not file.skipped, file.matched))[:_MOST_FILES]
    chosen = files if len(files) <= _MOST_FILES else shown
    rest = len(files) - len(chosen)
    columns: Columns = {
        "file": "file", "formats": lambda file: file.skipped or ", ".join(file.formats),
        "lines": "lines", "recognised": _share,
    }  # fmt: skip
    notes = (f"and {rest} more",) if rest else ()
    return table(chosen, columns, title="Files", left=(0, 1), notes=notes)


def _share(file: FileRead) -> str:
    return percent(min(1.0, file.matched / file.lines)) if file.lines else ""


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_CELL else f"{text[: _LONGEST_CELL - 1]}…"


explanation = View(
    shows="weft.inventory.explain.Explanation",
    verb="explain",
    page=paged(lambda _: "What was understood", blocks=_blocks),
)
