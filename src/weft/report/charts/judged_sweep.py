"""Measured over expected time by message size, on its band, with the best fault."""

from typing import Any

from weft.report.chart import BLUE, HEIGHT, ORANGE, PALE, RED, WIDTH, Chart
from weft.report.charts.busbw_curve import size_label
from weft.report.page import Drawing

_LEAST, _MOST = 0.5, 2.0
"""What the axis shows at least."""
_BAR = 14
"""Width of the band of a lone size."""


def _build(drawing: Drawing) -> Any:  # noqa: ANN401 - altair is not typed
    import altair as alt  # noqa: PLC0415 - 0.3 s that only charts need

    rows = list(drawing.rows)
    fault = drawing.marks.get("fault")
    sizes = [row["size_bytes"] for row in rows]
    names = ["80 % band", "measured", *([fault] if fault else [])]
    legend = alt.Scale(domain=names, range=[PALE, RED, ORANGE][: len(names)])
    colour = alt.Color("what:N", scale=legend)
    x = alt.X(
        "size_bytes:Q",
        title="message size",
        scale=alt.Scale(type="log", base=2, domain=_reach(sizes), nice=False),
        axis=alt.Axis(values=_ticks(sizes), labelExpr=size_label(), grid=False),
    )
    scale = alt.Scale(type="log", domain=_span(rows), nice=False)
    y = alt.Y(
        "ratio:Q",
        title="measured over expected time",
        scale=scale,
        axis=alt.Axis(values=[0.25, 0.5, 0.7, 1, 1.4, 2, 3, 5, 10, 20, 50], format="~g"),
    )
    base = alt.Chart(alt.Data(values=rows))
    tables = alt.Detail("test:N")
    band = base.transform_calculate(what="'80 % band'")
    band = band.mark_rule(strokeWidth=_BAR) if _lone(rows) else band.mark_area()
    layers = [
        band.encode(
            x=x, y=alt.Y("low:Q", scale=scale), y2="high:Q", color=colour, detail=tables
        ),
        base.transform_calculate(ratio="1")
        .mark_line(color=BLUE, point={"color": BLUE} if _lone(rows) else False)
        .encode(x=x, y=y, detail=tables),
    ]
    if fault:
        line = base.transform_calculate(what=f"'{fault}'", ratio="datum.fault")
        layers.append(
            line.mark_line(
                strokeDash=[6, 4],
                strokeWidth=2,
                point={"shape": "diamond"} if _lone(rows) else False,
            ).encode(x=x, y=y, color=colour, detail=tables)
        )
    points = base.transform_calculate(what="'measured'")
    layers.append(
        points.mark_line(point={"filled": True, "size": 45}).encode(
            x=x, y=y, color=colour, detail=tables
        )
    )
    return alt.layer(*layers).properties(width=WIDTH, height=HEIGHT)


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
