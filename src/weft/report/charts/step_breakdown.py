"""Where the time of a step goes: one stacked bar a fabric."""

import altair as alt

from weft.report.chart import MUTED, ORANGE, RED, ROW_HEIGHT, SKY, SLATE, YELLOW
from weft.report.charts._parts import colours, data, labels_of, layered, names
from weft.report.page import Drawing

COLOURS = {
    "compute": SLATE, "pipeline bubble": "#a3adb8", "exposed TP, CP and EP": SKY,
    "exposed PP": YELLOW, "exposed DP": RED, "stragglers": ORANGE, "other": MUTED,
}  # fmt: skip


def step_breakdown(drawing: Drawing) -> alt.LayerChart:
    """Draw step-time breakdown, one bar a fabric."""
    labels, parts = labels_of(drawing.rows, "label"), labels_of(drawing.rows, "part")
    shown = {part: colour for part, colour in COLOURS.items() if part in parts}
    y, axis = names("label", labels), alt.Axis(format=".6~g", tickCount=8)
    bars = data(drawing.rows).mark_bar(stroke="white", strokeWidth=0.7)
    bars = bars.encode(
        y=y,
        x=alt.X("seconds:Q", title="seconds per step", stack="zero", axis=axis),
        color=colours("part", shown, legend=alt.Legend(columns=3)),
        order=alt.Order("place:Q"),
    )
    totals = {row["label"]: row["total"] for row in drawing.rows}
    ends = data({"label": label, "total": total} for label, total in totals.items())
    words = ends.mark_text(align="left", dx=5, fontSize=12)
    words = words.encode(y=y, x=alt.X("total:Q"), text=alt.Text("total:Q", format=".3~g"))
    return layered(bars, words, height=ROW_HEIGHT * len(labels))
