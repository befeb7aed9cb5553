"""Bus bandwidth against message size: expected with its band, measured points where given."""

from typing import Any

from weft.report.chart import BLUE, HEIGHT, ORANGE, PALE, RED, WIDTH, Chart
from weft.report.page import Drawing


def _build(drawing: Drawing) -> Any:  # noqa: ANN401 - altair is not typed
    import altair as alt  # noqa: PLC0415 - 0.3 s that only charts need

    ticks = [2**power for power in range(3, 42, 3)]
    largest = max(row["size_bytes"] for row in drawing.rows)
    smallest = min(row["size_bytes"] for row in drawing.rows)
    x = alt.X(
        "size_bytes:Q",
        title="message size",
        scale=alt.Scale(type="log", base=2, domain=[smallest, largest], nice=False),
        axis=alt.Axis(
            values=[t for t in ticks if smallest <= t <= largest],
            labelExpr=size_label(),
            grid=False,
        ),
    )
    measured = list(drawing.marks.get("measured", ()))
    fault = list(drawing.marks.get("fault", ()))
    series = [("measured", RED)] if measured else []
    series += [(fault[0]["what"], ORANGE)] if fault else []
    names = ["expected", "80 % band", *(name for name, _ in series)]
    legend = alt.Scale(domain=names, range=[BLUE, PALE, *(colour for _, colour in series)])
    colour = alt.Color("what:N", scale=legend)
    base = alt.Chart(alt.Data(values=list(drawing.rows)))
    y = alt.Y("busbw:Q", title="busbw, GB/s")
    band = base.transform_calculate(what="'80 % band'").mark_area().encode(
        x=x, y=alt.Y("low:Q", title="busbw, GB/s"), y2="high:Q",
        color=colour,
    )  # fmt: skip
    line = (
        base.transform_calculate(what="'expected'")
        .mark_line(strokeWidth=2.5)
        .encode(x=x, y=y, color=colour)
    )
    layers = [band, line, *_switches(alt, base, x)]
    if fault:
        dashed = alt.Chart(alt.Data(values=fault)).mark_line(strokeDash=[6, 4], strokeWidth=2)
        layers.append(dashed.encode(x=x, y=y, color=colour))
    if measured:
        points = alt.Chart(alt.Data(values=measured))
        layers.append(
            points.mark_line(point={"filled": True, "size": 45}, clip=True).encode(
                x=x, y=y, color=colour
            )
        )
    return alt.layer(*layers).properties(width=WIDTH, height=HEIGHT)


def _switches(alt: Any, base: Any, x: Any) -> list[Any]:  # noqa: ANN401 - altair is not typed
    """Mark the sizes at which NCCL is expected to change its mind."""
    changed = (
        base.transform_window(before="lag(choice)", sort=[alt.SortField("size_bytes")])
        .transform_filter("datum.choice != datum.before")
        .transform_calculate(height="max(datum.high, 0)")
    )
    dots = changed.mark_point(filled=True, size=60, color=BLUE, opacity=1).encode(
        x=x, y="busbw:Q"
    )
    words = changed.encode(x=x, y="busbw:Q", text="choice:N")
    middle = "(datum.size_bytes <= 512)"
    left = words.transform_filter(middle).mark_text(align="left", dx=4, dy=-12, fontSize=11)
    right = words.transform_filter(f"!{middle}").mark_text(
        align="right", dx=-6, dy=-10, fontSize=11
    )
    return [dots, left, right]


def size_label() -> str:
    """Return the expression that writes sizes in powers of two."""
    steps = (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10))
    text = "datum.value + ' B'"
    for unit, scale in reversed(steps):
        text = f"datum.value >= {scale} ? datum.value / {scale} + ' {unit}' : ({text})"
    return text


busbw_curve = Chart(title="Expected bus bandwidth by message size", build=_build)
