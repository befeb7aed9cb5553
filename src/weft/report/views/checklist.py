"""`weft check`: what passed, what failed, and what nobody measured."""

from collections.abc import Iterator, Sequence

from weft.check.checked import Checked, Checklist, Outcome
from weft.report.page import Block, Columns, Sentences, Table, View, table

_MOST_ROWS = 12


def _of(result: Checklist, outcome: Outcome) -> list[Checked]:
    return [item for item in result.items if item.outcome is outcome]


def _title(result: Checklist) -> str:
    found = {outcome.value: len(_of(result, outcome)) for outcome in Outcome}
    counts = ", ".join(f"{count} {name}" for name, count in found.items() if count)
    what = "Node gate" if result.gate else "Checklist"
    return f"{what} of {result.cluster}: {result.outcome.value} ({counts})"


def _answer(result: Checklist) -> Iterator[Block]:
    if failed := _of(result, Outcome.FAIL):
        yield _items("Failed", failed[:_MOST_ROWS])
    if unmeasured := _of(result, Outcome.UNMEASURED):
        columns = {"item": "item", "why": "reason", "measured by": "measure"}
        yield table(unmeasured, columns, title="Not measured, so not passed")
    if passed := _of(result, Outcome.PASS):
        names = ", ".join(item.item for item in passed)
        yield Sentences(title="Passed", lines=(names,))


def _items(title: str, items: Sequence[Checked]) -> Table:
    columns: Columns = {"item": "item", "outcome": "outcome",
               "why": lambda item: item.reason or item.title}  # fmt: skip
    return table(items, columns, title=title, left=(0, 1, 2))


def _blocks(result: Checklist) -> Iterator[Block]:
    yield _items("Items", result.items)
    lines = [
        f"{item.item}: {line.file}:{line.line}: {line.text.strip()}"
        for item in _of(result, Outcome.FAIL)
        for line in item.evidence
    ]
    if lines:
        yield Sentences(title="Evidence", lines=tuple(lines))


checklist = View(
    shows="weft.check.checked.Checklist", verb="check", title=_title, answer=_answer,
    blocks=_blocks, rest="every item", is_modelled=False,
)  # fmt: skip
