"""When flows were under way: one line a flow, in the order in which they began."""

import altair as alt

from weft.report.chart import PALETTE, WIDTH
from weft.report.charts._parts import colours, data, labels_of
from weft.report.page import Drawing

GROUPS = 7
"""Traffics that the colours tell apart."""
NAMED = 24
"""Up to so many flows have room for their names."""
SHORTEST, TALLEST, ROW = 120, 420, 14


def simulation_timeline(drawing: Drawing) -> alt.Chart:
    """Draw flows over time."""
    rows = [{**row, "place": place} for place, row in enumerate(drawing.rows)]
    traffic = labels_of(rows, "traffic")
    few, every = len(rows) <= NAMED, int(drawing.marks.get("flows", len(rows)))
    shown = f"{len(rows)}" if every <= len(rows) else f"{len(rows)} of {every:,}"
    y = alt.Y(
        "flow:N" if few else "place:O",
        sort=[row["flow"] for row in rows] if few else "ascending",
        title=None if few else f"{shown} flows, the first to begin on top",
        axis=alt.Axis(labels=few, ticks=False, domain=few, labelFontSize=10),
    )
    title = f"time, {drawing.marks['unit']}"
    by_traffic = {name: PALETTE[place % GROUPS] for place, name in enumerate(traffic)}
    bars = data(rows).mark_bar(cornerRadius=1)
    bars = bars.encode(
        y=y,
        x=alt.X("begin:Q", title=title, scale=alt.Scale(zero=True)),
        x2="end:Q",
        color=colours("traffic", by_traffic, legend=alt.Legend() if traffic[1:] else None),
        opacity=alt.condition("datum.ended", alt.value(1.0), alt.value(0.4)),
    )
    height = max(SHORTEST, min(TALLEST, ROW * len(rows)))
    return bars.properties(width=WIDTH, height=height)
