"""`--sweep`: a verb at several values of one key (a curve) or of two (a map)."""

from collections.abc import Iterator
from typing import Final

from weft.predict.grid import Grid, GridPoint
from weft.report.numbers import figures, money, shown, unit_of
from weft.report.page import Block, Drawing, Sentences, Table, View
from weft.report.views._job import defaults
from weft.results import Estimate

TITLES: Final = {
    "step_s": "step time",
    "mfu_ratio": "MFU",
    "exposed_ratio": "exposed",
    "tokens_per_s": "tokens/s",
    "usd_per_1t_tokens": "$ per 1T tokens",
    "peak_busbw_bytes_per_s": "peak busbw",
    "smallest_s": "time of smallest size",
    "reached": "target met",
    "costs_the_same": "costs the same",
}


def _title(result: Grid) -> str:
    keys = " and ".join(axis.key for axis in result.axes)
    return f"weft {result.verb}: {result.subject} by {keys}"


def _answer(result: Grid) -> Iterator[Block]:
    yield _curve(result) if len(result.axes) == 1 else _map(result)
    yield from defaults(result.provenance)
    reasons = dict.fromkeys(point.reason for point in result.points if point.reason)
    failed = (f"{', '.join(_places(result, reason))}: {reason}" for reason in reasons)
    yield Sentences(title="Could not run", lines=tuple(failed))


def _places(result: Grid, reason: str) -> list[str]:
    return ["/".join(point.values) for point in result.points if point.reason == reason]


def _blocks(result: Grid) -> Iterator[Block]:
    yield _drawing(result)
    names = _names(result)
    if len(result.axes) > 1:
        yield Table(
            title="Every point",
            columns=(*(axis.key for axis in result.axes), *(title(name) for name in names)),
            rows=tuple(_row(point, names) for point in result.points),
            left=(0, 1),
        )


def _names(result: Grid) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for point in result.points for name in point.measures))


def _curve(result: Grid) -> Table:
    """Show a row for each value; bands where there is room."""
    names = _names(result)
    words = tuple(
        place + 1 for place, name in enumerate(names)
        if any(isinstance(point.measures.get(name), str) for point in result.points)
    )  # fmt: skip
    return Table(
        columns=(result.axes[0].key, *(title(name) for name in names)),
        rows=tuple(_row(point, names) for point in result.points),
        left=(0, *words),
        least=tuple(range(len(names), 1, -1)),
        notes=("In brackets the 80 % band.",) * _banded(result),
    )


def _banded(result: Grid) -> bool:
    return any(isinstance(v, Estimate) for p in result.points for v in p.measures.values())


def _row(point: GridPoint, names: tuple[str, ...]) -> tuple[str, ...]:
    return (*point.values, *(shown(name, point.measures.get(name)) for name in names))


def _map(result: Grid) -> Table:
    """Show the first measure: the first key down, the second across."""
    name = _names(result)[0]
    down, across = result.axes
    found = {point.values: point for point in result.points}
    rows = (
        (row, *(_cell(name, found[row, column]) for column in across.values))
        for row in down.values
    )
    return Table(
        title=f"{title(name)}, {down.key} down, {across.key} across",
        columns=(down.key, *across.values),
        rows=tuple(rows),
    )


def _cell(name: str, point: GridPoint) -> str:
    value = point.measures.get(name)
    return shown(name, value.value if isinstance(value, Estimate) else value)


def title(name: str) -> str:
    """Name a measure as a column does."""
    return TITLES.get(name, name.replace("_", " "))


def _drawing(result: Grid) -> Drawing:
    name = _names(result)[0]
    marks = {
        "title": title(name),
        "unit": "" if name.startswith("usd_") else unit_of(name)[0].removeprefix("/s"),
        "keys": [axis.key for axis in result.axes],
        "values": [list(axis.values) for axis in result.axes],
    }
    return Drawing(
        chart="sweep_curve" if len(result.axes) == 1 else "sweep_map",
        title=f"{title(name)[:1].upper()}{title(name)[1:]}: {result.subject}",
        rows=tuple(_chart_row(name, point) for point in result.points if point.measures),
        marks=marks,
    )


def _chart_row(name: str, point: GridPoint) -> dict[str, object]:
    value = point.measures[name]
    scale = unit_of(name)[1]
    row: dict[str, object] = dict(zip(("x", "y"), point.values, strict=False))
    if isinstance(value, str):
        return {**row, "value": None, "text": value}
    middle = value.value if isinstance(value, Estimate) else value
    ends = (value.low, value.high) if isinstance(value, Estimate) else (middle, middle)
    return {
        **row, "value": middle / scale, "low": ends[0] / scale, "high": ends[1] / scale,
        "text": money(middle) if name.startswith("usd_") else figures(middle / scale),
    }  # fmt: skip


grid = View(
    shows="weft.predict.grid.Grid", verb="predict", title=_title, answer=_answer,
    blocks=_blocks, assumes=True, charts=("sweep_curve", "sweep_map"),
)  # fmt: skip
