"""MFU against network bandwidth per GPU, with the knee and where the cluster is today."""

from collections.abc import Mapping
from typing import Any

from weft.report.chart import BLUE, HEIGHT, INK, RED, WIDTH, Chart
from weft.report.page import Drawing


def _build(drawing: Drawing) -> Any:  # noqa: ANN401 - altair is not typed
    import altair as alt  # noqa: PLC0415 - 0.3 s that only charts need

    base = alt.Chart(alt.Data(values=list(drawing.rows)))
    x = alt.X(
        "gbit_per_s:Q",
        title="network bandwidth per GPU, Gb/s",
        scale=alt.Scale(type="log", base=2, nice=False),
        axis=alt.Axis(values=_ticks(drawing.rows), format=".6~g", grid=False),
    )
    band = base.mark_area(opacity=0.22, color=BLUE).encode(
        x=x, y=alt.Y("low:Q", title="MFU, %", scale=alt.Scale(zero=True)), y2="high:Q"
    )
    line = base.mark_line(
        color=BLUE, strokeWidth=2.5, point={"size": 25, "color": BLUE}
    ).encode(x=x, y="mfu:Q")
    marks = [mark for mark in _marks(drawing.marks) if mark["gbit_per_s"]]
    layers = [band, line]
    for mark in marks:
        one = alt.Chart(alt.Data(values=[mark]))
        dash = [6, 3] if mark["colour"] == RED else [2, 3]
        layers.append(
            one.mark_rule(color=mark["colour"], strokeDash=dash, strokeWidth=1.8).encode(x=x)
        )
        layers.append(
            one.mark_text(
                align="left", dx=5, dy=mark["dy"], baseline="bottom", color=mark["colour"]
            ).encode(x=x, y=alt.value(HEIGHT), text="text:N")
        )
    return alt.layer(*layers).properties(width=WIDTH, height=HEIGHT)


def _ticks(rows: Any) -> list[float]:  # noqa: ANN401 - rows of plain data
    rates = [row["gbit_per_s"] for row in rows]
    ticks = [25 * 2**power for power in range(-4, 10)]
    return [tick for tick in ticks if min(rates) <= tick <= max(rates)]


def _marks(marks: Mapping[str, Any]) -> list[dict[str, Any]]:
    knee, today, need = marks.get("knee"), marks.get("today"), marks.get("need")
    return [
        {"gbit_per_s": knee, "text": f"knee {knee or 0:.3g}", "colour": RED, "dy": -40},
        {"gbit_per_s": today, "text": f"today {today or 0:.3g}", "colour": INK, "dy": -8},
        {"gbit_per_s": need, "text": f"needed {need or 0:.3g}", "colour": "#006d4f", "dy": -56},
    ]


mfu_bandwidth = Chart(title="MFU against network bandwidth, with the knee", build=_build)
