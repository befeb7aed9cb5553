"""Measured over expected time by message size, on its band, with the best fault."""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from weft.report.chart import BLUE, ORANGE, PALE, RED
from weft.report.charts._parts import colours, data, layered
from weft.report.charts.busbw_curve import size_axis, table_names
from weft.report.page import Drawing

Rows = Sequence[Mapping[str, Any]]
_LEAST, _MOST = 0.5, 2.0
"""What the axis shows at least."""
_BAR = 14
"""Width of the band of a lone size."""
_TICKS = [0.25, 0.5, 0.7, 1, 1.4, 2, 3, 5, 10, 20, 50]


def judged_sweep(drawing: Drawing) -> alt.LayerChart:
    """Draw measured over expected time by message size."""
    rows, fault = drawing.rows, drawing.marks.get("fault")
    scale = alt.Scale(type="log", domain=_span(rows), nice=False)
    legend = {"80 % band": PALE, "measured": RED} | ({fault: ORANGE} if fault else {})
    # Each table of a run is a curve of its own.
    where = {"x": _sizes(rows), "detail": alt.Detail("test:N")}
    axis, title = alt.Axis(values=_TICKS, format="~g"), "measured over expected time"
    ratio = {"y": alt.Y("ratio:Q", title=title, scale=scale, axis=axis), **where}
    colour = colours("what", legend)
    base, lone = data(rows), _lone(rows)
    band = base.transform_calculate(what="'80 % band'")
    band = band.mark_rule(strokeWidth=_BAR) if lone else band.mark_area()
    even = base.transform_calculate(ratio="1")
    layers = [
        band.encode(y=alt.Y("low:Q", scale=scale), y2="high:Q", color=colour, **where),
        even.mark_line(color=BLUE, point={"color": BLUE} if lone else False).encode(**ratio),
    ]
    if fault:
        line = base.transform_calculate(what=f"'{fault}'", ratio="datum.fault")
        shape = {"shape": "diamond"} if lone else False
        dashed = line.mark_line(strokeDash=[6, 4], strokeWidth=2, point=shape)
        layers.append(dashed.encode(color=colour, **ratio))
    points = base.transform_calculate(what="'measured'")
    dotted = points.mark_line(point={"filled": True, "size": 45})
    layers.append(dotted.encode(color=colour, **ratio))
    return layered(*layers, *table_names(rows, where["x"], ratio["y"]))


def _sizes(rows: Rows) -> alt.X:
    """Return the axis of sizes; a lone size stands in its middle."""
    sizes = [row["size_bytes"] for row in rows]
    smallest, largest = min(sizes), max(sizes)
    even = [2**power for power in range(0, 42, 3) if smallest <= 2**power <= largest]
    lone = 2 if smallest == largest else 1
    ticks = even if len(even) > 1 else sorted({*sizes})
    return size_axis([smallest / lone, largest * lone], ticks)


def _lone(rows: Rows) -> bool:
    """Say whether each table has one size: then there are points to draw and no lines."""
    tables = [row.get("test", "") for row in rows]
    return len(tables) == len(set(tables))


def _span(rows: Rows) -> list[float]:
    shown = [
        row[key] for row in rows for key in ("low", "high", "ratio", "fault") if key in row
    ]
    return [min(_LEAST, *shown) * 0.95, max(_MOST, *shown) * 1.05]
