"""MFU against network bandwidth per GPU, with the knee and where the cluster is today."""

import altair as alt

from weft.report.chart import BLUE, HEIGHT, INK, RED
from weft.report.charts._parts import data, layered
from weft.report.page import Drawing

MARKS = (("knee", "knee", RED, -40), ("today", "today", INK, -8),
         ("need", "needed", "#006d4f", -56))  # fmt: skip
"""Which mark, its word, its colour, and how far above the axis the word stands."""


def mfu_bandwidth(drawing: Drawing) -> alt.LayerChart:
    """Draw MFU against network bandwidth, with the knee."""
    rates = [row["gbit_per_s"] for row in drawing.rows]
    even = [25 * 2**power for power in range(-4, 10)]
    ticks = [tick for tick in even if min(rates) <= tick <= max(rates)]
    base = data(drawing.rows)
    x = alt.X(
        "gbit_per_s:Q",
        title="network bandwidth per GPU, Gb/s",
        scale=alt.Scale(type="log", base=2, nice=False),
        axis=alt.Axis(values=ticks, format=".6~g", grid=False),
    )
    y = alt.Y("low:Q", title="MFU, %", scale=alt.Scale(zero=True))
    line = base.mark_line(color=BLUE, strokeWidth=2.5, point={"size": 25, "color": BLUE})
    layers = [
        base.mark_area(opacity=0.22, color=BLUE).encode(x=x, y=y, y2="high:Q"),
        line.encode(x=x, y="mfu:Q"),
    ]
    for name, word, colour, above in MARKS:
        rate = drawing.marks.get(name)
        if rate:
            mark = data([{"gbit_per_s": rate, "text": f"{word} {rate:.3g}"}])
            dash = [6, 3] if colour == RED else [2, 3]
            rule = mark.mark_rule(color=colour, strokeDash=dash, strokeWidth=1.8)
            text = mark.mark_text(
                align="left", dx=5, dy=above, baseline="bottom", color=colour
            )  # fmt: skip
            layers.append(rule.encode(x=x))
            layers.append(text.encode(x=x, y=alt.value(HEIGHT), text="text:N"))
    return layered(*layers)
