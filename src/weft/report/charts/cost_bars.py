"""Total cost of ownership: one stacked bar a fabric."""

import altair as alt

from weft.report import chart
from weft.report.chart import MUTED, ROW_HEIGHT
from weft.report.charts._parts import colours, data, labels_of, layered, names
from weft.report.page import Drawing

COLOURS = {
    "servers": chart.SLATE, "NICs": chart.BLUE, "switches": chart.SKY,
    "optics and cables": chart.GREEN, "spares": chart.YELLOW, "energy": chart.ORANGE,
    "colocation": "#a3adb8", "staff": chart.RED, "support": chart.PURPLE,
    "rental": chart.SLATE,
}  # fmt: skip
UNITS = (("billion USD", 1e9), ("million USD", 1e6), ("thousand USD", 1e3))


def cost_bars(drawing: Drawing) -> alt.LayerChart:
    """Draw total cost of ownership, one bar a fabric."""
    labels, parts = labels_of(drawing.rows, "label"), labels_of(drawing.rows, "part")
    largest = max(row["total"] for row in drawing.rows)
    unit, scale = next((unit for unit in UNITS if largest >= unit[1]), ("USD", 1.0))
    rows = [
        {**row, "shown": row["usd"] / scale, "whole": row["total"] / scale}
        for row in drawing.rows
    ]
    y, by_part = names("label", labels), {part: COLOURS.get(part, MUTED) for part in parts}
    years = drawing.marks.get("years", 0)
    bars = data(rows).mark_bar(stroke="white", strokeWidth=0.7)
    bars = bars.encode(
        y=y,
        x=alt.X("shown:Q", title=f"{unit} over {years:g} years"),
        color=colours("part", by_part, legend=alt.Legend(columns=5)),
        order=alt.Order("place:Q"),
    )
    ends = data({row["label"]: row for row in rows}.values())
    words = ends.mark_text(align="left", dx=5, fontSize=12)
    words = words.encode(y=y, x="whole:Q", text=alt.Text("whole:Q", format=".3~g"))
    return layered(bars, words, height=ROW_HEIGHT * len(labels))
