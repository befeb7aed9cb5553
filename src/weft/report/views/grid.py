"""`--sweep`: a verb at several values of one key (a curve) or of two (a map)."""

from collections.abc import Iterator
from typing import Final

from weft.predict.grid import Grid, GridPoint
from weft.report.numbers import band, by_unit, figures, money, seconds, unit_of
from weft.report.page import Block, Drawing, Page, Sentences, Table, View, rows_of
from weft.report.views._provenance import defaults, footer
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
Value = Estimate | float | str


def _page(result: Grid) -> Page:
    keys = " and ".join(one.key for one in result.axes)
    return Page(
        title=f"weft {result.verb}: {result.subject} by {keys}",
        answer=tuple(_answer(result)),
        blocks=tuple(_blocks(result)),
        footer=footer(result.provenance),
    )


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
    if len(result.axes) > 1:
        yield _all(result)
    yield Sentences(title="Assumptions", lines=result.provenance.assumptions)


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
        rows=rows_of(*(_row(point, names) for point in result.points)),
        left=(0, *words),
        least=tuple(range(len(names), 1, -1)),
        notes=("In brackets the 80 % band.",) * _banded(result),
    )


def _banded(result: Grid) -> bool:
    return any(isinstance(one, Estimate) for p in result.points for one in p.measures.values())


def _row(point: GridPoint, names: tuple[str, ...]) -> tuple[str, ...]:
    shown = (
        shown_value(name, point.measures[name]) if name in point.measures else "-"
        for name in names
    )
    return (*point.values, *shown)


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
        rows=rows_of(*rows),
    )


def _cell(name: str, point: GridPoint) -> str:
    if name not in point.measures:
        return "-"
    value = point.measures[name]
    return shown_value(name, value.value if isinstance(value, Estimate) else value)


def _all(result: Grid) -> Table:
    names = _names(result)
    return Table(
        title="Every point",
        columns=(*(axis.key for axis in result.axes), *(title(name) for name in names)),
        rows=rows_of(*(_row(point, names) for point in result.points)),
        left=(0, 1),
    )


def title(name: str) -> str:
    """Name a measure as a column does."""
    return TITLES.get(name, name.replace("_", " "))


def shown_value(name: str, value: Value) -> str:
    """Show a measure by the end of its name.

    >>> shown_value("step_s", 2.0), shown_value("mfu_ratio", 0.4), shown_value("x", "roce")
    ('2.00 s', '40.0 %', 'roce')
    """
    if isinstance(value, str):
        return value
    if name.startswith("usd_"):
        return money(value)
    if not isinstance(value, Estimate):
        return by_unit(name, value)
    if name.endswith("_s") and not name.endswith("_per_s"):
        return seconds(value)
    unit, scale = unit_of(name)
    return band(value, unit.removeprefix("/s"), scale)


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
    shows="weft.predict.grid.Grid",
    verb="predict",
    page=_page,
    charts=("sweep_curve", "sweep_map"),
)
