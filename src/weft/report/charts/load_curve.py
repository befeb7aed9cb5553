"""Delivered against offered load, by multiples of the projected peak; the breaking point."""

import altair as alt

from weft.report.chart import BLUE, MUTED, RED
from weft.report.charts._parts import colours, data, layered
from weft.report.page import Drawing

TITLE = "load of a host, Gb/s"


def load_curve(drawing: Drawing) -> alt.LayerChart:
    """Draw delivered against offered load."""
    x = alt.X(
        "multiple:Q",
        title="offered load, times the projected peak",
        axis=alt.Axis(tickCount=6),
        scale=alt.Scale(zero=True, nice=True),
    )
    colour = colours("what", {"offered": MUTED, "delivered": BLUE})
    base = data(drawing.rows)
    offered = base.transform_calculate(what="'offered'").mark_line(strokeDash=[6, 4])
    delivered = base.transform_calculate(what="'delivered'")
    delivered = delivered.mark_line(point={"filled": True, "size": 60}, strokeWidth=2.5)
    layers = [
        offered.encode(x=x, y=alt.Y("offered:Q", title=TITLE), color=colour),
        delivered.encode(x=x, y=alt.Y("delivered:Q", title=TITLE), color=colour),
    ]
    breaking = drawing.marks.get("breaking")
    if breaking is not None:
        mark = data([{"multiple": breaking, "text": "breaks"}])
        words = mark.mark_text(color=RED, dx=6, align="left", dy=8)
        layers.append(mark.mark_rule(color=RED, strokeWidth=2).encode(x=x))
        layers.append(words.encode(x=x, y=alt.value(4), text="text:N"))
    return layered(*layers)
