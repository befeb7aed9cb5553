"""When flows were under way: one line a flow, in the order in which they began."""

from typing import Any

from weft.report.chart import BLUE, GREEN, ORANGE, PURPLE, RED, SKY, SLATE, WIDTH, Chart
from weft.report.page import Drawing

COLOURS = (BLUE, ORANGE, GREEN, RED, PURPLE, SKY, SLATE)
NAMED = 24
"""Up to so many flows have room for their names."""
SHORTEST, TALLEST, ROW = 120, 420, 14


def _build(drawing: Drawing) -> Any:  # noqa: ANN401 - altair is not typed
    import altair as alt  # noqa: PLC0415 - 0.3 s that only charts need

    rows = [{**row, "place": place} for place, row in enumerate(drawing.rows)]
    names = list(dict.fromkeys(row["traffic"] for row in rows))
    few = len(rows) <= NAMED
    every = int(drawing.marks.get("flows", len(rows)))
    shown = f"{len(rows)}" if every <= len(rows) else f"{len(rows)} of {every:,}"
    height = max(SHORTEST, min(TALLEST, ROW * len(rows)))
    y = alt.Y(
        "flow:N" if few else "place:O",
        sort=[row["flow"] for row in rows] if few else "ascending",
        title=None if few else f"{shown} flows, the first to begin on top",
        axis=alt.Axis(labels=few, ticks=False, domain=few, labelFontSize=10),
    )
    bars = (
        alt.Chart(alt.Data(values=rows))
        .mark_bar(cornerRadius=1)
        .encode(
            y=y,
            x=alt.X(
                "begin:Q", title=f"time, {drawing.marks['unit']}", scale=alt.Scale(zero=True)
            ),
            x2="end:Q",
            color=alt.Color(
                "traffic:N",
                scale=alt.Scale(
                    domain=names, range=[COLOURS[i % 7] for i in range(len(names))]
                ),
                legend=alt.Legend() if len(names) > 1 else None,
            ),
            opacity=alt.condition("datum.ended", alt.value(1.0), alt.value(0.4)),
        )
    )
    return bars.properties(width=WIDTH, height=height)


simulation_timeline = Chart(title="Flows over time", build=_build)
