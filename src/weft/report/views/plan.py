"""`weft plan`: every number of a configuration, part by part."""

from collections.abc import Iterator, Sequence
from typing import Final

from weft.generate.lossless import Buffer
from weft.generate.plan import Plan
from weft.report.page import Block, Facts, Sentences, Table, View
from weft.report.views._plan import TITLES, value, within

_NEXT: Final = (
    "weft render all writes the files; --explain gives the reason and source of each value."
)
LINE: Final = 48
"""Characters of a part's values on the first screen."""


def _title(result: Plan) -> str:
    cluster, count = result.cluster, sum(1 for _ in result.numbers())
    name, kind = result.names.cluster.text(), cluster.fabric.kind
    return f"Plan of {name}: {count} values for {cluster.hosts} hosts on {kind}"


def _answer(result: Plan) -> Iterator[Block]:
    yield Facts(pairs=tuple(_parts(result)))
    refused = (*result.nccl.refused, *result.left_out)
    lines = tuple(f"{value.name}={value.value}: {value.reason}" for value in refused)
    if lines:
        yield Sentences(title="Requested and left out", lines=lines)
    yield Sentences(lines=(_NEXT,))


def _parts(result: Plan) -> Iterator[tuple[str, str]]:
    """Yield a line for each part, with the values that its reader looks for first."""
    yield "needs", ", ".join(sorted(feature.value for feature in result.features)) or "nothing"
    numbers = tuple(result.numbers())
    for part, title in TITLES.items():
        values = [f"{name} {value(planned)}" for name, planned in within(numbers, part)]
        if values:
            yield title.partition(":")[0].partition(" on ")[0], _line(values)


def _line(values: Sequence[str]) -> str:
    """Join the first values that a line has room for.

    >>> _line(["rate 400 Gb/s", "x" * 60, "mtu 9216 B"])
    'rate 400 Gb/s, mtu 9216 B, ...'
    """
    shown: list[str] = []
    for text in values:
        if len(", ".join([*shown, text])) <= LINE:
            shown.append(text)
    return ", ".join([*shown, "..."] if len(shown) < len(values) else shown)


def _blocks(result: Plan) -> Iterator[Block]:
    numbers = tuple(result.numbers())
    for part, title in TITLES.items():
        rows = tuple((name, value(planned)) for name, planned in within(numbers, part))
        if rows:
            yield Table(title=title, columns=("what", "value"), rows=rows, left=(0, 1))
    if result.buffer is not None:
        yield _buffer(result.buffer)


def _buffer(buffer: Buffer) -> Table:
    """Show how the buffer of a switch is divided: the parts add up to the whole."""
    kept = (
        (part.what, str(part.count), str(part.each_bytes), str(part.bytes))
        for part in buffer.kept
    )
    return Table(
        title="Buffer of one switch, in bytes",
        columns=("part", "count", "each", "bytes"),
        rows=(
            *kept,
            ("shared by all ports", "1", "", str(buffer.shared_bytes)),
            ("unused", "1", "", str(buffer.unused_bytes)),
            ("whole buffer", "", "", str(buffer.whole_bytes)),
        ),
    )


plan = View(
    shows="weft.generate.plan.Plan", verb="plan", title=_title, answer=_answer,
    blocks=_blocks, rest="every value", is_modelled=False,
)  # fmt: skip
