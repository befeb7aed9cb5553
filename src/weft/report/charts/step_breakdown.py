"""Where the time of a step goes: one stacked bar a fabric."""

from typing import Any

from weft.report.chart import MUTED, ORANGE, RED, ROW_HEIGHT, SKY, SLATE, WIDTH, YELLOW, Chart
from weft.report.page import Drawing

COLOURS = {
    "compute": SLATE,
    "pipeline bubble": "#a3adb8",
    "exposed TP, CP and EP": SKY,
    "exposed PP": YELLOW,
    "exposed DP": RED,
    "stragglers": ORANGE,
    "other": MUTED,
}


def _build(drawing: Drawing) -> Any:  # noqa: ANN401 - altair is not typed
    import altair as alt  # noqa: PLC0415 - 0.3 s that only charts need

    labels = list(dict.fromkeys(row["label"] for row in drawing.rows))
    parts = [part for part in COLOURS if any(row["part"] == part for row in drawing.rows)]
    base = alt.Chart(alt.Data(values=list(drawing.rows)))
    y = alt.Y("label:N", sort=labels, title=None, axis=alt.Axis(ticks=False, domain=False))
    bars = base.mark_bar(stroke="white", strokeWidth=0.7).encode(
        y=y,
        x=alt.X(
            "seconds:Q",
            title="seconds per step",
            stack="zero",
            axis=alt.Axis(format=".6~g", tickCount=8),
        ),
        color=alt.Color(
            "part:N",
            scale=alt.Scale(domain=parts, range=[COLOURS[part] for part in parts]),
            legend=alt.Legend(columns=3),
        ),
        order=alt.Order("place:Q"),
    )
    totals = [{"label": row["label"], "total": row["total"]} for row in drawing.rows]
    ends = alt.Chart(alt.Data(values=list({row["label"]: row for row in totals}.values())))
    words = ends.mark_text(align="left", dx=5, fontSize=12).encode(
        y=y, x=alt.X("total:Q"), text=alt.Text("total:Q", format=".3~g")
    )
    return (bars + words).properties(width=WIDTH, height=ROW_HEIGHT * len(labels))


step_breakdown = Chart(title="Step-time breakdown, one bar a fabric", build=_build)
