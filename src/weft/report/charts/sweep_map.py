"""One measure at every pair of values of two keys: a heat map with the figures in it."""

from typing import Any

from weft.report.chart import INK, WIDTH, Chart
from weft.report.page import Drawing

ROW = 44
"""Points of height that a row of cells takes."""


def _build(drawing: Drawing) -> Any:  # noqa: ANN401 - altair is not typed
    import altair as alt  # noqa: PLC0415 - 0.3 s that only charts need

    marks = drawing.marks
    (down, across), (rows, columns) = marks["keys"], marks["values"]
    base = alt.Chart(alt.Data(values=list(drawing.rows))).encode(
        x=alt.X("y:N", title=across, sort=columns, axis=alt.Axis(labelAngle=0)),
        y=alt.Y("x:N", title=down, sort=rows),
    )
    words = all(row["value"] is None for row in drawing.rows)
    unit = f", {marks['unit']}" if marks["unit"] else ""
    colour = (
        alt.Color("text:N", legend=None, scale=alt.Scale(scheme="pastel1"))
        if words
        else alt.Color(
            "value:Q", scale=alt.Scale(scheme="blues", range=["#f4f9fc", "#7db8da"]),
            legend=alt.Legend(title=f"{marks['title']}{unit}"),
        )
    )  # fmt: skip
    cells = base.mark_rect(stroke="white").encode(color=colour)
    figures = base.mark_text(color=INK, fontSize=12).encode(text="text:N")
    return alt.layer(cells, figures).properties(width=WIDTH, height=ROW * len(rows))


sweep_map = Chart(title="One measure by two keys", build=_build)
