"""One measure at every pair of values of two keys: a heat map with the figures in it."""

import altair as alt

from weft.report.chart import INK
from weft.report.charts._parts import data, layered
from weft.report.page import Drawing

ROW = 44
"""Points of height that a row of cells takes."""


def sweep_map(drawing: Drawing) -> alt.LayerChart:
    """Draw one measure by two keys."""
    marks = drawing.marks
    (down, across), (rows, columns) = marks["keys"], marks["values"]
    base = data(drawing.rows).encode(
        x=alt.X("y:N", title=across, sort=columns, axis=alt.Axis(labelAngle=0)),
        y=alt.Y("x:N", title=down, sort=rows),
    )
    unit = f", {marks['unit']}" if marks["unit"] else ""
    if all(row["value"] is None for row in drawing.rows):
        colour = alt.Color("text:N", legend=None, scale=alt.Scale(scheme="pastel1"))
    else:
        scale = alt.Scale(scheme="blues", range=["#f4f9fc", "#7db8da"])
        legend = alt.Legend(title=f"{marks['title']}{unit}")
        colour = alt.Color("value:Q", scale=scale, legend=legend)
    cells = base.mark_rect(stroke="white").encode(color=colour)
    figures = base.mark_text(color=INK, fontSize=12).encode(text="text:N")
    return layered(cells, figures, height=ROW * len(rows))
