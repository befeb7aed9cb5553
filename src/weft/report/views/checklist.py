"""`weft check`: what passed, what failed, and what nobody measured."""

from collections.abc import Iterator

from weft.check.checked import Checked, Checklist, Outcome
from weft.report.page import Block, Page, Sentences, Table, View
from weft.report.views._provenance import footer

_MOST_ROWS = 12


def _page(result: Checklist) -> Page:
    by = {one: [row for row in result.items if row.outcome is one] for one in Outcome}
    counts = ", ".join(f"{len(by[one])} {one.value}" for one in Outcome if by[one])
    what = "Node gate" if result.gate else "Checklist"
    return Page(
        title=f"{what} of {result.cluster}: {result.outcome.value} ({counts})",
        answer=tuple(_answer(by)),
        blocks=(_table("Items", result.items), *_evidence(by[Outcome.FAIL])),
        rest="every item",
        footer=footer(result.provenance)[:1],
    )


def _answer(by: dict[Outcome, list[Checked]]) -> Iterator[Block]:
    if by[Outcome.FAIL]:
        yield _table("Failed", by[Outcome.FAIL][:_MOST_ROWS])
    if by[Outcome.UNMEASURED]:
        yield Table(
            title="Not measured, so not passed", columns=("item", "why", "measured by"),
            rows=tuple((one.item, one.reason, one.measure) for one in by[Outcome.UNMEASURED]),
            left=(0, 1, 2),
        )  # fmt: skip
    if by[Outcome.PASS]:
        names = ", ".join(one.item for one in by[Outcome.PASS])
        yield Sentences(title="Passed", lines=(names,))


def _table(title: str, rows: "tuple[Checked, ...] | list[Checked]") -> Table:
    return Table(
        title=title, columns=("item", "outcome", "why"),
        rows=tuple((one.item, one.outcome.value, one.reason or one.title) for one in rows),
        left=(0, 1, 2),
    )  # fmt: skip


def _evidence(failed: list[Checked]) -> Iterator[Block]:
    lines = [
        f"{one.item}: {line.file}:{line.line}: {line.text.strip()}"
        for one in failed
        for line in one.evidence
    ]
    if lines:
        yield Sentences(title="Evidence", lines=tuple(lines))


checklist = View(shows="weft.check.checked.Checklist", verb="check", page=_page)
