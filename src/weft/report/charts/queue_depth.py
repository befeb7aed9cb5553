"""Queues of the worst links over time, and below them what the hosts received."""

import altair as alt

from weft.report.chart import INK, PALETTE, WIDTH
from weft.report.charts._parts import data, labels_of
from weft.report.page import Drawing

DASHES = ([1, 0], [6, 3], [2, 2], [8, 2, 2, 2], [4, 4], [1, 3])
QUEUE_HEIGHT, RATE_HEIGHT = 220, 110


def queue_depth(drawing: Drawing) -> alt.VConcatChart:
    """Draw queues and received rate over time."""
    marks, links = drawing.marks, labels_of(drawing.rows, "link")
    legend = alt.Legend(columns=2, symbolType="stroke", symbolStrokeWidth=2)
    colour = alt.Scale(domain=links, range=list(PALETTE[: min(len(links), len(DASHES))]))
    dash = alt.Scale(domain=links, range=list(DASHES[: len(links)]))
    even = alt.Scale(nice=False)
    queue = data(drawing.rows).mark_line(strokeWidth=1.8, interpolate="step-before")
    queue = queue.encode(
        x=alt.X("time:Q", title=None, scale=even),
        y=alt.Y("queue:Q", title=f"queue, {marks['size_unit']}"),
        color=alt.Color("link:N", scale=colour, legend=legend),
        strokeDash=alt.StrokeDash("link:N", scale=dash, legend=legend),
    )
    rate = data(marks["rates"]).mark_area(color=INK, opacity=0.35, interpolate="step-before")
    rate = rate.encode(
        x=alt.X("time:Q", title=f"time, {marks['unit']}", scale=even),
        y=alt.Y("rate:Q", title="received, Tb/s"),
    )
    return alt.vconcat(
        queue.properties(width=WIDTH, height=QUEUE_HEIGHT),
        rate.properties(width=WIDTH, height=RATE_HEIGHT),
        spacing=10,
    ).resolve_scale(x="shared")
