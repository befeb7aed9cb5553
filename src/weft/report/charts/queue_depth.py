"""Queues of the worst links over time, and below them what the hosts received."""

from typing import Any

from weft.report.chart import BLUE, GREEN, INK, ORANGE, PURPLE, RED, SKY, WIDTH, Chart
from weft.report.page import Drawing

COLOURS = (BLUE, ORANGE, GREEN, RED, PURPLE, SKY)
DASHES = ([1, 0], [6, 3], [2, 2], [8, 2, 2, 2], [4, 4], [1, 3])
QUEUE_HEIGHT, RATE_HEIGHT = 220, 110


def _build(drawing: Drawing) -> Any:  # noqa: ANN401 - altair is not typed
    import altair as alt  # noqa: PLC0415 - 0.3 s that only charts need

    rows = list(drawing.rows)
    marks, names = drawing.marks, list(dict.fromkeys(row["link"] for row in drawing.rows))
    time = alt.X("time:Q", title=None, scale=alt.Scale(nice=False))
    queue = (
        alt.Chart(alt.Data(values=rows))
        .mark_line(strokeWidth=1.8, interpolate="step-before")
        .encode(
            x=time,
            y=alt.Y("queue:Q", title=f"queue, {marks['size_unit']}"),
            color=_by(alt.Color, names, COLOURS, columns=2),
            strokeDash=_by(alt.StrokeDash, names, DASHES, columns=2),
        )
        .properties(width=WIDTH, height=QUEUE_HEIGHT)
    )
    rate = (
        alt.Chart(alt.Data(values=list(marks["rates"])))
        .mark_area(color=INK, opacity=0.35, interpolate="step-before")
        .encode(
            x=alt.X("time:Q", title=f"time, {marks['unit']}", scale=alt.Scale(nice=False)),
            y=alt.Y("rate:Q", title="received, Tb/s"),
        )
        .properties(width=WIDTH, height=RATE_HEIGHT)
    )
    return alt.vconcat(queue, rate, spacing=10).resolve_scale(x="shared")


def _by(channel: Any, names: list[str], values: Any, columns: int) -> Any:  # noqa: ANN401 - as above
    import altair as alt  # noqa: PLC0415 - as above

    scale = alt.Scale(domain=names, range=list(values[: len(names)]))
    legend = alt.Legend(columns=columns, symbolType="stroke", symbolStrokeWidth=2)
    return channel("link:N", scale=scale, legend=legend)


queue_depth = Chart(title="Queues and received rate over time", build=_build)
