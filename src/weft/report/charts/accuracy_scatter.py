"""Predicted against measured on logarithmic axes, with the diagonal and a factor of 1.35."""

from typing import Any

from weft.report.chart import (
    BLUE,
    GREEN,
    HEIGHT,
    MUTED,
    ORANGE,
    PURPLE,
    RED,
    SKY,
    SLATE,
    YELLOW,
    Chart,
)  # fmt: skip
from weft.report.page import Drawing

PALETTE = [BLUE, ORANGE, GREEN, RED, PURPLE, SKY, SLATE, YELLOW, MUTED]
SHAPES = [
    "circle", "square", "diamond", "triangle-up", "cross", "triangle-down", "triangle-left",
    "triangle-right", "circle",
]  # fmt: skip
FACTOR = 1.35


def _build(drawing: Drawing) -> Any:  # noqa: ANN401 - altair is not typed
    import altair as alt  # noqa: PLC0415 - 0.3 s that only charts need

    values = [row[axis] for row in drawing.rows for axis in ("measured", "predicted")]
    low, high = min(values) / 1.2, max(values) * 1.2
    unit = drawing.marks.get("unit", "")
    groups = sorted({row["group"] for row in drawing.rows})
    scale = alt.Scale(type="log", domain=[low, high], nice=False)
    axis = alt.Axis(format=".6~g", labelOverlap=True, tickCount=8)
    x = alt.X("measured:Q", title=f"measured, {unit}", scale=scale, axis=axis)
    y = alt.Y("predicted:Q", title=f"predicted, {unit}", scale=scale, axis=axis)
    layers = [_line(alt, x, y, (low, high), factor) for factor in (1 / FACTOR, 1.0, FACTOR)]
    points = alt.Chart(alt.Data(values=list(drawing.rows))).mark_point(
        filled=True, size=40, opacity=0.75
    )
    layers.append(
        points.encode(
            x=x,
            y=y,
            color=alt.Color(
                "group:N",
                scale=alt.Scale(domain=groups, range=PALETTE),
                legend=alt.Legend(columns=4),
            ),
            shape=alt.Shape("group:N", scale=alt.Scale(domain=groups, range=SHAPES)),
        )
    )
    side = HEIGHT * 1.4
    return alt.layer(*layers).properties(width=side, height=side)


def _line(alt: Any, x: Any, y: Any, ends: tuple[float, float], factor: float) -> Any:  # noqa: ANN401 - altair is not typed
    rows = [{"measured": end, "predicted": end * factor} for end in ends]
    dash = [1, 0] if factor == 1.0 else [4, 4]
    return (
        alt.Chart(alt.Data(values=rows))
        .mark_line(color=MUTED, strokeDash=dash, strokeWidth=1.2, clip=True)
        .encode(x=x, y=y)
    )


accuracy_scatter = Chart(title="Predicted against measured", build=_build)
