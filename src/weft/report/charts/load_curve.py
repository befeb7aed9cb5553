"""Delivered against offered load, by multiples of the projected peak; the breaking point."""

from typing import Any

from weft.report.chart import BLUE, HEIGHT, MUTED, RED, WIDTH, Chart
from weft.report.page import Drawing


def _build(drawing: Drawing) -> Any:  # noqa: ANN401 - altair is not typed
    import altair as alt  # noqa: PLC0415 - 0.3 s that only charts need

    rows = list(drawing.rows)
    x = alt.X(
        "multiple:Q",
        title="offered load, times the projected peak",
        axis=alt.Axis(tickCount=6),
        scale=alt.Scale(zero=True, nice=True),
    )
    title = "load of a host, Gb/s"
    base = alt.Chart(alt.Data(values=rows))
    legend = alt.Scale(domain=["offered", "delivered"], range=[MUTED, BLUE])
    colour = alt.Color("what:N", scale=legend)
    offered = (
        base.transform_calculate(what="'offered'")
        .mark_line(strokeDash=[6, 4])
        .encode(x=x, y=alt.Y("offered:Q", title=title), color=colour)
    )
    delivered = (
        base.transform_calculate(what="'delivered'")
        .mark_line(point={"filled": True, "size": 60}, strokeWidth=2.5)
        .encode(x=x, y=alt.Y("delivered:Q", title=title), color=colour)
    )
    layers = [offered, delivered]
    breaking = drawing.marks.get("breaking")
    if breaking is not None:
        mark = alt.Chart(alt.Data(values=[{"multiple": breaking, "text": "breaks"}]))
        layers.append(mark.mark_rule(color=RED, strokeWidth=2).encode(x=x))
        layers.append(
            mark.mark_text(color=RED, dx=6, align="left", dy=8).encode(
                x=x, y=alt.value(4), text="text:N"
            )
        )
    return alt.layer(*layers).properties(width=WIDTH, height=HEIGHT)


load_curve = Chart(title="Delivered against offered load", build=_build)
