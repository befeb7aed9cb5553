"""Time of like runs against their median, run by run, with the limit of the newest."""

from typing import Any

from weft.report.chart import BLUE, HEIGHT, MUTED, RED, WIDTH, Chart
from weft.report.page import Drawing


def _build(drawing: Drawing) -> Any:  # noqa: ANN401 - altair is not typed
    import altair as alt  # noqa: PLC0415 - 0.3 s that only charts need

    x = alt.X("run:O", title="run", axis=alt.Axis(labelAngle=0, labelOverlap=True))
    y = alt.Y(
        "slower:Q",
        title="time against the median",
        axis=alt.Axis(format="+%"),
        scale=alt.Scale(zero=True, nice=True),
    )
    base = alt.Chart(alt.Data(values=list(drawing.rows)))
    even = alt.Chart(alt.Data(values=[{"slower": 0.0}])).mark_rule(color=MUTED).encode(y=y)
    line = base.mark_line(color=BLUE, strokeWidth=1.5).encode(x=x, y=y)
    colour = alt.condition("datum.regression", alt.value(RED), alt.value(BLUE))
    dots = base.mark_point(filled=True, size=60, opacity=1).encode(x=x, y=y, color=colour)
    layers = [even, line, dots]
    if (limit := drawing.marks.get("limit")) is not None:
        rule = alt.Chart(alt.Data(values=[{"slower": limit, "text": "slower from here"}]))
        layers.append(rule.mark_rule(color=RED, strokeDash=[6, 4]).encode(y=y))
        words = rule.mark_text(color=RED, align="left", dx=4, dy=-7)
        layers.append(words.encode(x=alt.value(0), y=y, text="text:N"))
    if (changed := drawing.marks.get("changed")) is not None:
        mark = alt.Chart(alt.Data(values=[{"run": changed, "text": "changed"}]))
        layers.append(mark.mark_rule(color=MUTED, strokeWidth=1.5).encode(x=x))
        words = mark.mark_text(color=MUTED, align="left", dx=5)
        layers.append(words.encode(x=x, y=alt.value(6), text="text:N"))
    return alt.layer(*layers).properties(width=WIDTH, height=HEIGHT)


run_history = Chart(title="Time of like runs against their median", build=_build)
