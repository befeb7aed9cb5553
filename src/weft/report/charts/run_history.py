"""Time of like runs against their median, run by run, with the limit of the newest."""

import altair as alt

from weft.report.chart import BLUE, MUTED, RED
from weft.report.charts._parts import data, layered
from weft.report.page import Drawing


def run_history(drawing: Drawing) -> alt.LayerChart:
    """Draw time of like runs against their median."""
    x = alt.X("run:O", title="run", axis=alt.Axis(labelAngle=0, labelOverlap=True))
    scale, axis = alt.Scale(zero=True, nice=True), alt.Axis(format="+%")
    y = alt.Y("slower:Q", title="time against the median", axis=axis, scale=scale)
    base = data(drawing.rows)
    colour = alt.condition("datum.regression", alt.value(RED), alt.value(BLUE))
    dots = base.mark_point(filled=True, size=60, opacity=1)
    layers = [
        data([{"slower": 0.0}]).mark_rule(color=MUTED).encode(y=y),
        base.mark_line(color=BLUE, strokeWidth=1.5).encode(x=x, y=y),
        dots.encode(x=x, y=y, color=colour),
    ]
    if (limit := drawing.marks.get("limit")) is not None:
        rule = data([{"slower": limit, "text": "slower from here"}])
        layers.append(rule.mark_rule(color=RED, strokeDash=[6, 4]).encode(y=y))
        words = rule.mark_text(color=RED, align="left", dx=4, dy=-7)
        layers.append(words.encode(x=alt.value(0), y=y, text="text:N"))
    if (changed := drawing.marks.get("changed")) is not None:
        mark = data([{"run": changed, "text": "changed"}])
        layers.append(mark.mark_rule(color=MUTED, strokeWidth=1.5).encode(x=x))
        words = mark.mark_text(color=MUTED, align="left", dx=5)
        layers.append(words.encode(x=x, y=alt.value(6), text="text:N"))
    return layered(*layers)
