"""Settings that were tried, by two objectives: the front, the best, and what ships."""

from typing import Any

from weft.report.chart import BLUE, GREEN, HEIGHT, INK, MUTED, ORANGE, WIDTH, Chart
from weft.report.page import Drawing

KINDS = ("tried", "on the front", "best", "shipped or start")
COLOURS = (MUTED, BLUE, GREEN, ORANGE)
SHAPES = ("circle", "circle", "diamond", "square")
AREAS = "28, 70, 190, 90"
SIDES = (("left", 9, -7), ("left", 9, 12), ("right", -9, -7), ("right", -9, 12))
"""Where names stand, in turn, so that neighbours do not cover one another."""


def _build(drawing: Drawing) -> Any:  # noqa: ANN401 - altair is not typed
    import altair as alt  # noqa: PLC0415 - 0.3 s that only charts need

    marks = drawing.marks
    base = alt.Chart(alt.Data(values=list(drawing.rows))).encode(
        x=_axis(alt.X, "x", marks), y=_axis(alt.Y, "y", marks)
    )
    colour = alt.Color("kind:N", scale=alt.Scale(domain=list(KINDS), range=list(COLOURS)))
    shape = alt.Shape("kind:N", scale=alt.Scale(domain=list(KINDS), range=list(SHAPES)))
    points = (
        base.mark_point(filled=True, opacity=0.85)
        .encode(
            color=colour,
            shape=shape,
            size=alt.Size("area:Q", legend=None, scale=None),
            order=alt.Order("area:Q"),
        )
        .transform_calculate(area=f"[{AREAS}][indexof({list(KINDS)}, datum.kind)]")
    )
    names = [
        base.transform_filter(f"datum.side === {side}")
        .mark_text(align=align, dx=dx, dy=dy, fontSize=11, color=INK)
        .encode(text="name:N")
        for side, (align, dx, dy) in enumerate(SIDES)
    ]
    return alt.layer(points, *names).properties(width=WIDTH, height=HEIGHT)


def _axis(channel: Any, which: str, marks: Any) -> Any:  # noqa: ANN401 - as above
    import altair as alt  # noqa: PLC0415 - as above

    scale = alt.Scale(type=marks[f"{which}_scale"], zero=False, nice=False, padding=18)
    return channel(f"{which}:Q", title=marks[f"{which}_title"], scale=scale)


tuning_front = Chart(title="Settings that were tried", build=_build)
