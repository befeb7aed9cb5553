"""Total cost of ownership: one stacked bar a fabric."""

from typing import Any

from weft.report.chart import (
    BLUE,
    GREEN,
    MUTED,
    ORANGE,
    PURPLE,
    RED,
    ROW_HEIGHT,
    SKY,
    SLATE,
    WIDTH,
    YELLOW,
    Chart,
)  # fmt: skip
from weft.report.page import Drawing

COLOURS = {
    "servers": SLATE,
    "NICs": BLUE,
    "switches": SKY,
    "optics and cables": GREEN,
    "spares": YELLOW,
    "energy": ORANGE,
    "colocation": "#a3adb8",
    "staff": RED,
    "support": PURPLE,
    "rental": SLATE,
}


def _build(drawing: Drawing) -> Any:  # noqa: ANN401 - altair is not typed
    import altair as alt  # noqa: PLC0415 - 0.3 s that only charts need

    labels = list(dict.fromkeys(row["label"] for row in drawing.rows))
    parts = list(dict.fromkeys(row["part"] for row in drawing.rows))
    unit, scale = _unit(max(row["total"] for row in drawing.rows))
    rows = [
        {**row, "shown": row["usd"] / scale, "whole": row["total"] / scale}
        for row in drawing.rows
    ]
    y = alt.Y("label:N", sort=labels, title=None, axis=alt.Axis(ticks=False, domain=False))
    bars = (
        alt.Chart(alt.Data(values=rows))
        .mark_bar(stroke="white", strokeWidth=0.7)
        .encode(
            y=y,
            x=alt.X("shown:Q", title=f"{unit} over {drawing.marks.get('years', 0):g} years"),
            color=alt.Color(
                "part:N",
                scale=alt.Scale(domain=parts, range=[COLOURS.get(one, MUTED) for one in parts]),
                legend=alt.Legend(columns=5),
            ),
            order=alt.Order("place:Q"),
        )
    )
    ends = alt.Chart(alt.Data(values=list({row["label"]: row for row in rows}.values())))
    words = ends.mark_text(align="left", dx=5, fontSize=12).encode(
        y=y, x="whole:Q", text=alt.Text("whole:Q", format=".3~g")
    )
    return (bars + words).properties(width=WIDTH, height=ROW_HEIGHT * len(labels))


def _unit(largest_usd: float) -> tuple[str, float]:
    """Choose thousands, millions or billions of dollars for the axis."""
    for unit, scale in (("billion USD", 1e9), ("million USD", 1e6), ("thousand USD", 1e3)):
        if largest_usd >= scale:
            return unit, scale
    return "USD", 1.0


cost_bars = Chart(title="Total cost of ownership, one bar a fabric", build=_build)
