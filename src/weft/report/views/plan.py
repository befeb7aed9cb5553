"""`weft plan`: every number of a configuration, part by part."""

from collections.abc import Iterator, Sequence
from typing import Final

from weft.generate.plan import Plan
from weft.generate.planned import Planned
from weft.report.page import Block, Facts, Page, Sentences, Table, View, rows_of
from weft.report.views._plan import TITLES, value, within
from weft.report.views._provenance import footer

_NEXT: Final = (
    "weft render all writes the files; --explain gives the reason and source of each value."
)
LINE: Final = 48
"""Characters of a part's values on the first screen."""


def _page(result: Plan) -> Page:
    cluster, count = result.cluster, sum(1 for _ in result.numbers())
    return Page(
        title=(
            f"Plan of {result.names.cluster.text()}: {count} values for {cluster.hosts} hosts "
            f"on {cluster.fabric.kind}"
        ),
        answer=(
            Facts(pairs=tuple(_parts(result))),
            *_refused(result),
            Sentences(lines=(_NEXT,)),
        ),
        blocks=(*_tables(result), *_buffer(result)),
        footer=footer(result.provenance)[:1],
        rest="every value",
    )


def _buffer(result: Plan) -> Iterator[Table]:
    """Yield how the buffer of a switch is divided: the parts add up to the whole."""
    if result.buffer is None:
        return
    rows = [
        (one.what, str(one.count), str(one.each_bytes), str(one.bytes))
        for one in result.buffer.kept
    ]
    rows += [
        ("shared by all ports", "1", "", str(result.buffer.shared_bytes)),
        ("unused", "1", "", str(result.buffer.unused_bytes)),
        ("whole buffer", "", "", str(result.buffer.whole_bytes)),
    ]
    yield Table(
        title="Buffer of one switch, in bytes",
        columns=("part", "count", "each", "bytes"),
        rows=rows_of(*rows),
        left=(0,),
    )


def _parts(result: Plan) -> Iterator[tuple[str, str]]:
    """Yield a line for each part, with the values that its reader looks for first."""
    yield "needs", ", ".join(sorted(feature.value for feature in result.features)) or "nothing"
    numbers = tuple(result.numbers())
    for part, title in TITLES.items():
        values = [f"{name} {value(one)}" for name, one in within(numbers, part)]
        if values:
            yield title.partition(":")[0].partition(" on ")[0], _line(values)


def _line(values: Sequence[str]) -> str:
    """Join the first values that a line has room for.

    >>> _line(["rate 400 Gb/s", "x" * 60, "mtu 9216 B"])
    'rate 400 Gb/s, mtu 9216 B, ...'
    """
    shown: list[str] = []
    for one in values:
        if len(", ".join([*shown, one])) <= LINE:
            shown.append(one)
    return ", ".join([*shown, "..."] if len(shown) < len(values) else shown)


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
        yield Sentences(title="Requested and left out", lines=lines)


plan = View(shows="weft.generate.plan.Plan", verb="plan", page=_page)
