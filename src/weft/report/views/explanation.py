"""`weft explain`: what was read of each kind of entity, events, and how much of each file."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from weft.inventory.explain import Explanation, Statement
from weft.inventory.inventory import FileRead
from weft.report.numbers import percent
from weft.report.page import Block, Page, Table, View

_MOST_ROWS = 25
_MOST_FILES = 60
_LONGEST_CELL = 60


def _page(result: Explanation) -> Page:
    return Page(title="What was understood", blocks=tuple(_blocks(result)))


def _blocks(result: Explanation) -> Iterator[Block]:
    yield _files(result.files)
    by_kind = sorted(result.statements, key=lambda one: one.kind)
    for kind, group in groupby(by_kind, key=lambda one: one.kind):
        yield _table(kind, list(group))


def _files(files: Sequence[FileRead]) -> Table:
    """Show how much of each file was read; of many files, those first that were not."""
    shown = sorted(files, key=lambda one: (not one.skipped, one.matched))[:_MOST_FILES]
    chosen = files if len(files) <= _MOST_FILES else shown
    rest = len(files) - len(chosen)
    rows = tuple(
        (one.file, one.skipped or ", ".join(one.formats), str(one.lines), _share(one))
        for one in chosen
    )
    return Table(
        title="Files",
        columns=("file", "formats", "lines", "recognised"),
        rows=rows,
        left=(0, 1),
        notes=(f"and {rest} more",) if rest else (),
    )


def _share(one: FileRead) -> str:
    return percent(min(1.0, one.matched / one.lines)) if one.lines else ""


def _table(kind: str, statements: Sequence[Statement]) -> Table:
    rest = len(statements) - _MOST_ROWS
    rows = tuple(
        (one.entity, one.name, _cell(one.text), str(one.count), f"{one.file}:{one.line}")
        for one in statements[:_MOST_ROWS]
    )
    return Table(
        title=kind,
        columns=("entity", "attribute", "value", "times", "line"),
        rows=rows,
        left=(0, 1, 2, 4),
        notes=(f"and {rest} more; -o json has them all",) if rest > 0 else (),
    )


def _cell(text: str) -> str:
    return text if len(text) <= _LONGEST_CELL else f"{text[: _LONGEST_CELL - 1]}…"


explanation = View(shows="weft.inventory.explain.Explanation", verb="explain", page=_page)
