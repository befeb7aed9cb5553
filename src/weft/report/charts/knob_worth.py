"""What each knob of tuned settings is worth: the loss when it alone goes back."""

from typing import Any

from weft.report.chart import BLUE, INK, MUTED, ROW_HEIGHT, WIDTH, Chart
from weft.report.page import Drawing


def _build(drawing: Drawing) -> Any:  # noqa: ANN401 - altair is not typed
    import altair as alt  # noqa: PLC0415 - 0.3 s that only charts need

    rows = list(drawing.rows)
    order = [row["knob"] for row in rows]
    base = alt.Chart(alt.Data(values=rows))
    y = alt.Y("knob:N", sort=order, title=None, axis=alt.Axis(ticks=False, domain=False))
    x = alt.X("mean:Q", title=drawing.marks["title"], axis=alt.Axis(tickCount=8))
    words = ["changed", "left as it was"]
    bars = base.mark_bar(height=ROW_HEIGHT * 0.35).encode(
        y=y,
        x=x,
        color=alt.Color("kept:N", scale=alt.Scale(domain=words, range=[BLUE, MUTED])),
    )
    ranges = base.mark_rule(color=INK, strokeWidth=1.5).encode(y=y, x="low:Q", x2="high:Q")
    return (bars + ranges).properties(width=WIDTH, height=ROW_HEIGHT * 0.7 * max(1, len(rows)))


knob_worth = Chart(title="Effect of each knob", build=_build)
