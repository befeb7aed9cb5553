"""Measured over expected time by message size, on its band, with the best fault."""

from typing import Any

from weft.report.chart import BLUE, HEIGHT, ORANGE, PALE, RED, WIDTH, Chart
from weft.report.charts.busbw_curve import size_label, table_names
from weft.report.page import Drawing

_LEAST, _MOST = 0.5, 2.0
"""What the axis shows at least."""
_BAR = 14
"""Width of the band of a lone size."""


def _build(drawing: Drawing) -> Any:  # noqa: ANN401 - altair is not typed
    import altair as alt  # noqa: PLC0415 - 0.3 s that only charts need

    rows, fault = list(drawing.rows), drawing.marks.get("fault")
    scale = alt.Scale(type="log", domain=_span(rows), nice=False)
    names = ["80 % band", "measured", *([fault] if fault else [])]
    legend = alt.Scale(domain=names, range=[PALE, RED, ORANGE][: len(names)])
    # Each table of a run is a curve of its own.
    where = {"x": _sizes(alt, rows), "detail": alt.Detail("test:N")}
    ratio = {"y": _ratios(alt, scale), **where}
    colour = alt.Color("what:N", scale=legend)
    base, lone = alt.Chart(alt.Data(values=rows)), _lone(rows)
    band = base.transform_calculate(what="'80 % band'")
    band = band.mark_rule(strokeWidth=_BAR) if lone else band.mark_area()
    even = base.transform_calculate(ratio="1")
    points = base.transform_calculate(what="'measured'")
    layers = [
        band.encode(y=alt.Y("low:Q", scale=scale), y2="high:Q", color=colour, **where),
        even.mark_line(color=BLUE, point={"color": BLUE} if lone else False).encode(**ratio),
    ]
    if fault:
        line = base.transform_calculate(what=f"'{fault}'", ratio="datum.fault")
        shape = {"shape": "diamond"} if lone else False
        dashed = line.mark_line(strokeDash=[6, 4], strokeWidth=2, point=shape)
        layers.append(dashed.encode(color=colour, **ratio))
    dotted = points.mark_line(point={"filled": True, "size": 45})
    layers.append(dotted.encode(color=colour, **ratio))
    layers += table_names(alt, rows, where["x"], ratio["y"])
    return alt.layer(*layers).properties(width=WIDTH, height=HEIGHT)


def _sizes(alt: Any, rows: list[Any]) -> Any:  # noqa: ANN401 - altair is not typed
    """Return the axis of sizes."""
    sizes = [row["size_bytes"] for row in rows]
    return alt.X(
        "size_bytes:Q",
        title="message size",
        scale=alt.Scale(type="log", base=2, domain=_reach(sizes), nice=False),
        axis=alt.Axis(values=_ticks(sizes), labelExpr=size_label(), grid=False),
    )


def _ratios(alt: Any, scale: Any) -> Any:  # noqa: ANN401 - altair is not typed
    """Return the axis of measured over expected time."""
    return alt.Y(
        "ratio:Q",
        title="measured over expected time",
        scale=scale,
        axis=alt.Axis(values=[0.25, 0.5, 0.7, 1, 1.4, 2, 3, 5, 10, 20, 50], format="~g"),
    )


def _reach(sizes: list[float]) -> list[float]:
    """Return the ends of the axis; a lone size stands in its middle."""
    lone = 2 if min(sizes) == max(sizes) else 1
    return [min(sizes) / lone, max(sizes) * lone]


def _lone(rows: list[Any]) -> bool:
    """Say whether each table has one size: then there are points to draw and no lines."""
    tables = [row.get("test", "") for row in rows]
    return len(tables) == len(set(tables))


def _ticks(sizes: list[float]) -> list[float]:
    even = [2**power for power in range(0, 42, 3) if min(sizes) <= 2**power <= max(sizes)]
    return [*even] if len(even) > 1 else sorted({*sizes})


def _span(rows: list[Any]) -> list[float]:
    shown = [
        row[key] for row in rows for key in ("low", "high", "ratio", "fault") if key in row
    ]
    return [min(_LEAST, *shown) * 0.95, max(_MOST, *shown) * 1.05]


judged_sweep = Chart(title="Measured over expected time by message size", build=_build)
