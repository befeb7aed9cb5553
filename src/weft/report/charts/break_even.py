"""How far each input moves the cost, those that change the recommendation first."""

import altair as alt

from weft.report.chart import BLUE, ORANGE, ROW_HEIGHT
from weft.report.charts._parts import colours, data, layered, names
from weft.report.page import Drawing

CHANGES, NOT = "changes the recommendation", "does not"


def break_even(drawing: Drawing) -> alt.LayerChart:
    """Draw what would change the recommendation."""
    ordered = sorted(drawing.rows, key=lambda row: (not row["changes"], -abs(row["swing"])))
    y = names("input", [row["input"] for row in ordered])
    base = data(drawing.rows)
    x = alt.X(
        "swing:Q",
        title="change of the cost per token over the input's range, % (root scale)",
        scale=alt.Scale(type="sqrt"),
        axis=alt.Axis(tickCount=8),
    )
    told = base.transform_calculate(what=f"datum.changes ? '{CHANGES}' : '{NOT}'")
    bars = told.mark_bar().encode(y=y, x=x, color=colours("what", {CHANGES: ORANGE, NOT: BLUE}))
    notes = base.mark_text(align="left", dx=5, fontSize=11)
    notes = notes.encode(y=y, x="swing:Q", text="note:N")
    return layered(bars, notes, height=ROW_HEIGHT * 0.8 * len(ordered))
