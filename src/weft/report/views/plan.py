"""`weft plan`: every number of a configuration, part by part."""

from collections.abc import Iterator, Sequence

from weft.generate.plan import Plan
from weft.generate.planned import Planned
from weft.report.page import Block, Facts, Page, Sentences, Table, View, rows_of
from weft.report.views._plan import TITLES, value, within
from weft.report.views._provenance import footer


def _page(result: Plan) -> Page:
    return Page(
        title=f"Plan of {result.names.cluster.text()}",
        blocks=(
            Facts(
                pairs=(
                    ("fabric", result.cluster.fabric.kind),
                    ("hosts", str(result.cluster.hosts)),
                    ("needs", ", ".join(sorted(f.value for f in result.features))),
                )
            ),
            *_tables(result),
            *_refused(result),
            Sentences(lines=("weft plan --explain gives reason and source of each value.",)),
        ),
        footer=footer(result.provenance)[:1],
    )


def _tables(result: Plan) -> Iterator[Block]:
    numbers = tuple(result.numbers())
    for part, title in TITLES.items():
        rows = [(name, one) for name, one in within(numbers, part)]
        if rows:
            yield _table(title, rows)


def _table(title: str, rows: Sequence[tuple[str, Planned]]) -> Table:
    return Table(
        title=title,
        columns=("what", "value"),
        rows=rows_of(*((name, value(one)) for name, one in rows)),
        left=(0, 1),
    )


def _refused(result: Plan) -> Iterator[Block]:
    refused = (*result.nccl.refused, *result.left_out)
    lines = tuple(f"{one.name}={one.value}: {one.reason}" for one in refused)
    if lines:
        yield Sentences(title="Asked for and left out", lines=lines)


plan = View(shows="weft.generate.plan.Plan", verb="plan", page=_page)
