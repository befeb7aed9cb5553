"""How much slower flows were than alone: the middle and the tail, one line a traffic."""

from typing import Any

from weft.report.chart import BLUE, MUTED, ORANGE, RED, ROW_HEIGHT, WIDTH, Chart
from weft.report.page import Drawing

POINTS = ("p50", "p99", "p99.9")


def _build(drawing: Drawing) -> Any:  # noqa: ANN401 - altair is not typed
    import altair as alt  # noqa: PLC0415 - 0.3 s that only charts need

    rows = list(drawing.rows)
    names = list(dict.fromkeys(row["traffic"] for row in rows))
    base = alt.Chart(alt.Data(values=rows))
    y = alt.Y("traffic:N", sort=names, title=None, axis=alt.Axis(ticks=False, domain=False))
    x = alt.X(
        "slowdown:Q",
        title="time of a flow over its time alone (logarithmic)",
        scale=alt.Scale(type="log", domainMin=1, nice=True),
        axis=alt.Axis(tickCount=6, format="~g"),
    )
    spans = base.mark_line(color=MUTED, strokeWidth=1.5).encode(y=y, x=x, detail="traffic:N")
    dots = base.mark_point(filled=True, size=90, opacity=1).encode(
        y=y,
        x=x,
        color=alt.Color("point:N", scale=alt.Scale(domain=POINTS, range=[BLUE, ORANGE, RED])),
        shape=alt.Shape(
            "point:N", scale=alt.Scale(domain=POINTS, range=["circle", "square", "diamond"])
        ),
    )
    return (spans + dots).properties(width=WIDTH, height=max(60, ROW_HEIGHT * len(names)))


slowdown_tail = Chart(title="Slowdown of flows, middle and tail", build=_build)
