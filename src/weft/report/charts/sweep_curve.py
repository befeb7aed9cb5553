"""One measure at every value of a key: a line where values are numbers, else a bar each."""

import altair as alt

from weft.report.chart import BLUE, PALE
from weft.report.charts._parts import data, layered
from weft.report.page import Drawing


def sweep_curve(drawing: Drawing) -> alt.LayerChart:
    """Draw one measure by one key."""
    marks, key, names = drawing.marks, drawing.marks["keys"][0], drawing.marks["values"][0]
    numeric = all(_is_number(name) for name in names)
    unit = f", {marks['unit']}" if marks["unit"] else ""
    y = alt.Y("value:Q", title=f"{marks['title']}{unit}", scale=alt.Scale(zero=not numeric))
    if not numeric:
        base = data(drawing.rows)
        x = alt.X("x:N", title=key, sort=names, axis=alt.Axis(labelAngle=0))
        bars = base.mark_bar(color=BLUE, size=44).encode(x=x, y=y)
        band = base.mark_rule(strokeWidth=2).encode(x=x, y="low:Q", y2="high:Q")
        return layered(bars, band, _words(base, x, "high"))
    base = data({**row, "x": float(row["x"])} for row in drawing.rows)
    values = [float(row["x"]) for row in drawing.rows]
    log = min(values) > 0 and max(values) >= 4 * min(values)
    scale = alt.Scale(type="log", base=2, nice=False) if log else alt.Scale(nice=False)
    axis = alt.Axis(values=sorted(set(values)), format="~g", grid=False)
    x = alt.X("x:Q", title=key, scale=scale, axis=axis)
    area = base.mark_area(color=PALE).encode(x=x, y="low:Q", y2="high:Q")
    line = base.mark_line(color=BLUE, strokeWidth=2.5, point={"size": 45, "color": BLUE})
    return layered(area, line.encode(x=x, y=y), _words(base, x, "value"))


def _words(base: alt.Chart, x: alt.X, above: str) -> alt.Chart:
    return base.mark_text(dy=-12, fontSize=11).encode(x=x, y=f"{above}:Q", text="text:N")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
