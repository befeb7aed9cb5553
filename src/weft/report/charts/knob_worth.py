"""What each knob of tuned settings is worth: the loss when it alone goes back."""

import altair as alt

from weft.report.chart import BLUE, INK, MUTED, ROW_HEIGHT
from weft.report.charts._parts import colours, data, layered, names
from weft.report.page import Drawing

COLOURS = {"changed": BLUE, "left as it was": MUTED}


def knob_worth(drawing: Drawing) -> alt.LayerChart:
    """Draw effect of each knob."""
    base, y = data(drawing.rows), names("knob", [row["knob"] for row in drawing.rows])
    x = alt.X("mean:Q", title=drawing.marks["title"], axis=alt.Axis(tickCount=8))
    bars = base.mark_bar(height=ROW_HEIGHT * 0.35)
    bars = bars.encode(y=y, x=x, color=colours("kept", COLOURS))
    ranges = base.mark_rule(color=INK, strokeWidth=1.5).encode(y=y, x="low:Q", x2="high:Q")
    return layered(bars, ranges, height=ROW_HEIGHT * 0.7 * max(1, len(drawing.rows)))
