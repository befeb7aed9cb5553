"""How much slower flows were than alone: the middle and the tail, one line a traffic."""

import altair as alt

from weft.report.chart import BLUE, MUTED, ORANGE, RED, ROW_HEIGHT
from weft.report.charts._parts import colours, data, labels_of, layered, names
from weft.report.page import Drawing

COLOURS = {"p50": BLUE, "p99": ORANGE, "p99.9": RED}
SHAPES = ["circle", "square", "diamond"]


def slowdown_tail(drawing: Drawing) -> alt.LayerChart:
    """Draw slowdown of flows, middle and tail."""
    traffic, base = labels_of(drawing.rows, "traffic"), data(drawing.rows)
    y = names("traffic", traffic)
    x = alt.X(
        "slowdown:Q",
        title="time of a flow over its time alone (logarithmic)",
        scale=alt.Scale(type="log", domainMin=1, nice=True),
        axis=alt.Axis(tickCount=6, format="~g"),
    )
    spans = base.mark_line(color=MUTED, strokeWidth=1.5).encode(y=y, x=x, detail="traffic:N")
    shape = alt.Shape("point:N", scale=alt.Scale(domain=list(COLOURS), range=SHAPES))
    dots = base.mark_point(filled=True, size=90, opacity=1)
    dots = dots.encode(y=y, x=x, color=colours("point", COLOURS), shape=shape)
    return layered(spans, dots, height=max(60, ROW_HEIGHT * len(traffic)))
