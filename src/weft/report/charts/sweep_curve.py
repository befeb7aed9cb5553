"""One measure at every value of a key: a line where values are numbers, else a bar each."""

from typing import Any

from weft.report.chart import BLUE, HEIGHT, PALE, WIDTH, Chart
from weft.report.page import Drawing


def _build(drawing: Drawing) -> Any:  # noqa: ANN401 - altair is not typed
    import altair as alt  # noqa: PLC0415 - 0.3 s that only charts need

    marks = drawing.marks
    numeric = all(_is_number(value) for value in marks["values"][0])
    rows = [{**row, "x": float(row["x"]) if numeric else row["x"]} for row in drawing.rows]
    base = alt.Chart(alt.Data(values=rows))
    unit = f", {marks['unit']}" if marks["unit"] else ""
    y = alt.Y("value:Q", title=f"{marks['title']}{unit}", scale=alt.Scale(zero=not numeric))
    words = base.mark_text(dy=-12, fontSize=11)
    if not numeric:
        x = alt.X("x:N", title=marks["keys"][0], sort=marks["values"][0],
                  axis=alt.Axis(labelAngle=0))  # fmt: skip
        bars = base.mark_bar(color=BLUE, size=44).encode(x=x, y=y)
        band = base.mark_rule(strokeWidth=2).encode(x=x, y="low:Q", y2="high:Q")
        layers = alt.layer(bars, band, words.encode(x=x, y="high:Q", text="text:N"))
        return layers.properties(width=WIDTH, height=HEIGHT)
    values = [row["x"] for row in rows]
    log = min(values) > 0 and max(values) >= 4 * min(values)
    scale = alt.Scale(type="log", base=2, nice=False) if log else alt.Scale(nice=False)
    x = alt.X("x:Q", title=marks["keys"][0], scale=scale,
              axis=alt.Axis(values=sorted(set(values)), format="~g", grid=False))  # fmt: skip
    area = base.mark_area(color=PALE).encode(x=x, y="low:Q", y2="high:Q")
    line = base.mark_line(color=BLUE, strokeWidth=2.5, point={"size": 45, "color": BLUE})
    layers = alt.layer(
        area, line.encode(x=x, y=y), words.encode(x=x, y="value:Q", text="text:N")
    )
    return layers.properties(width=WIDTH, height=HEIGHT)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


sweep_curve = Chart(title="One measure by one key", build=_build)
