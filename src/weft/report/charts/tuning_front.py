"""Settings that were tried, by two objectives: the front, the best, and what ships."""

import altair as alt

from weft.report.chart import BLUE, GREEN, INK, MUTED, ORANGE
from weft.report.charts._parts import colours, data, layered
from weft.report.page import Drawing

COLOURS = {"tried": MUTED, "on the front": BLUE, "best": GREEN, "shipped or start": ORANGE}
SHAPES = ["circle", "circle", "diamond", "square"]
AREAS = "28, 70, 190, 90"
SIDES = (("left", 9, -7), ("left", 9, 12), ("right", -9, -7), ("right", -9, 12))
"""Where names stand, in turn, so that neighbours do not cover one another."""


def tuning_front(drawing: Drawing) -> alt.LayerChart:
    """Draw settings that were tried."""
    marks, kinds = drawing.marks, list(COLOURS)
    x, y = (
        channel(
            f"{axis}:Q", title=marks[f"{axis}_title"],
            scale=alt.Scale(type=marks[f"{axis}_scale"], zero=False, nice=False, padding=18),
        )
        for channel, axis in ((alt.X, "x"), (alt.Y, "y"))
    )  # fmt: skip
    base = data(drawing.rows).encode(x=x, y=y)
    points = base.mark_point(filled=True, opacity=0.85).encode(
        color=colours("kind", COLOURS),
        shape=alt.Shape("kind:N", scale=alt.Scale(domain=kinds, range=SHAPES)),
        size=alt.Size("area:Q", legend=None, scale=None),
        order=alt.Order("area:Q"),
    )
    points = points.transform_calculate(area=f"[{AREAS}][indexof({kinds}, datum.kind)]")
    names = [
        base.transform_filter(f"datum.side === {side}")
        .mark_text(align=align, dx=dx, dy=dy, fontSize=11, color=INK)
        .encode(text="name:N")
        for side, (align, dx, dy) in enumerate(SIDES)
    ]
    return layered(points, *names)
