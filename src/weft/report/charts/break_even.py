"""How far each input moves the cost, those that change the recommendation first."""

from typing import Any

from weft.report.chart import BLUE, ORANGE, ROW_HEIGHT, WIDTH, Chart
from weft.report.page import Drawing


def _build(drawing: Drawing) -> Any:  # noqa: ANN401 - altair is not typed
    import altair as alt  # noqa: PLC0415 - 0.3 s that only charts need

    labels = [row["input"] for row in sorted(drawing.rows, key=_place)]
    base = alt.Chart(alt.Data(values=list(drawing.rows)))
    y = alt.Y("input:N", sort=labels, title=None, axis=alt.Axis(ticks=False, domain=False))
    words = {"true": "changes the recommendation", "false": "does not"}
    bars = (
        base.transform_calculate(what=f"datum.changes ? '{words['true']}' : '{words['false']}'")
        .mark_bar()
        .encode(
            y=y,
            x=alt.X(
                "swing:Q",
                title="change of the cost per token over the input's range, % (root scale)",
                scale=alt.Scale(type="sqrt"),
                axis=alt.Axis(tickCount=8),
            ),
            color=alt.Color(
                "what:N",
                scale=alt.Scale(domain=list(words.values()), range=[ORANGE, BLUE]),
            ),
        )
    )
    notes = base.mark_text(align="left", dx=5, fontSize=11).encode(
        y=y, x="swing:Q", text="note:N"
    )
    return (bars + notes).properties(width=WIDTH, height=ROW_HEIGHT * 0.8 * len(labels))


def _place(row: Any) -> tuple[bool, float]:  # noqa: ANN401 - a row of plain data
    return (not row["changes"], -abs(row["swing"]))


break_even = Chart(title="What would change the recommendation", build=_build)
