"""Predicted against measured on logarithmic axes, with the diagonal and a factor of 1.35."""

import altair as alt

from weft.report.chart import HEIGHT, MUTED, PALETTE
from weft.report.charts._parts import data
from weft.report.page import Drawing

SHAPES = [
    "circle", "square", "diamond", "triangle-up", "cross", "triangle-down", "triangle-left",
    "triangle-right", "circle",
]  # fmt: skip
FACTOR = 1.35


def accuracy_scatter(drawing: Drawing) -> alt.LayerChart:
    """Draw predicted against measured."""
    values = [row[axis] for row in drawing.rows for axis in ("measured", "predicted")]
    low, high = min(values) / 1.2, max(values) * 1.2
    unit = drawing.marks.get("unit", "")
    groups = sorted({row["group"] for row in drawing.rows})
    scale = alt.Scale(type="log", domain=[low, high], nice=False)
    axis = alt.Axis(format=".6~g", labelOverlap=True, tickCount=8)
    where = {
        "x": alt.X("measured:Q", title=f"measured, {unit}", scale=scale, axis=axis),
        "y": alt.Y("predicted:Q", title=f"predicted, {unit}", scale=scale, axis=axis),
    }
    layers = []
    for factor in (1 / FACTOR, 1.0, FACTOR):
        line = data({"measured": end, "predicted": end * factor} for end in (low, high))
        dash = [1, 0] if factor == 1.0 else [4, 4]
        marked = line.mark_line(color=MUTED, strokeDash=dash, strokeWidth=1.2, clip=True)
        layers.append(marked.encode(**where))
    points = data(drawing.rows).mark_point(filled=True, size=40, opacity=0.75)
    colour = alt.Scale(domain=groups, range=list(PALETTE))
    shape = alt.Scale(domain=groups, range=SHAPES)
    layers.append(
        points.encode(
            color=alt.Color("group:N", scale=colour, legend=alt.Legend(columns=4)),
            shape=alt.Shape("group:N", scale=shape),
            **where,
        )
    )
    side = HEIGHT * 1.4
    return alt.layer(*layers).properties(width=side, height=side)
