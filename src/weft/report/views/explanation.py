"""`weft explain`: what was read of each kind of entity, events, and how much of each file."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from weft.inventory.explain import Explanation, Statement
from weft.inventory.inventory import FileRead
from weft.report.numbers import percent
from weft.report.page import Block, Columns, Sentences, Table, View, listed, many, table

_MOST_ROWS = 25
_MOST_FILES = 60
_LONGEST_CELL = 60
_MOST_NAMES = 2


def _title(result: Explanation) -> str:
    lines = sum(file.lines for file in result.files)
    share = percent(min(1.0, sum(file.matched for file in result.files) / (lines or 1)))
    return f"{share} of {many(lines, 'line')} in {many(len(result.files), 'file')} recognised"


def _answer(result: Explanation) -> Iterator[Block]:
    """Yield how much was read of each kind, and of each file."""
    kinds: Columns = {
        "kind": lambda found: found[0].kind,
        "entities": lambda found: str(len({statement.entity for statement in found})),
        "statements": lambda found: str(len(found)),
        "such as": lambda found: listed(
            list(dict.fromkeys(statement.name for statement in found)), _MOST_NAMES
        ),
    }
    yield table(_by_kind(result), kinds, title="What was read", left=(0, 3))
    yield _files(result.files)
    yield Sentences(lines=("weft diagnose of the same files says what is wrong.",))


def _by_kind(result: Explanation) -> list[list[Statement]]:
    by_kind = sorted(result.statements, key=lambda found: found.kind)
    return [list(group) for _, group in groupby(by_kind, key=lambda found: found.kind)]


def _blocks(result: Explanation) -> Iterator[Block]:
    columns: Columns = {
        "entity": "entity", "attribute": "name", "value": lambda found: _cut(found.text),
        "times": "count", "line": lambda found: f"{found.file}:{found.line}",
    }  # fmt: skip
    for statements in _by_kind(result):
        rest = len(statements) - _MOST_ROWS
        yield table(
            statements[:_MOST_ROWS], columns, title=statements[0].kind, left=(0, 1, 2, 4),
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
    return table(chosen, columns, title="Files", left=(0, 1), notes=notes, least=(1,))


def _share(file: FileRead) -> str:
    return percent(min(1.0, file.matched / file.lines)) if file.lines else ""


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_CELL else f"{text[: _LONGEST_CELL - 1]}…"


explanation = View(
    shows="weft.inventory.explain.Explanation", verb="explain", title=_title,
    answer=_answer, blocks=_blocks, rest="each statement with its line",
)  # fmt: skip
