"""Bus bandwidth against message size: expected with its band, measured points where given."""

from typing import Any

from weft.report.chart import BLUE, HEIGHT, MUTED, ORANGE, PALE, RED, WIDTH, Chart
from weft.report.page import Drawing


def _build(drawing: Drawing) -> Any:  # noqa: ANN401 - altair is not typed
    import altair as alt  # noqa: PLC0415 - 0.3 s that only charts need

    x, base = _sizes(alt, drawing), alt.Chart(alt.Data(values=list(drawing.rows)))
    # Each table of a run is a curve of its own.
    shared = {"x": x, "color": _colour(alt, drawing), "detail": alt.Detail("test:N")}
    y = alt.Y("busbw:Q", title="busbw, GB/s")
    band = base.transform_calculate(what="'80 % band'").mark_area()
    line = base.transform_calculate(what="'expected'").mark_line(strokeWidth=2.5)
    layers = [
        band.encode(y=alt.Y("low:Q", title="busbw, GB/s"), y2="high:Q", **shared),
        line.encode(y=y, **shared),
        *_switches(alt, base, x),
    ]
    if fault := list(drawing.marks.get("fault", ())):
        dashed = alt.Chart(alt.Data(values=fault)).mark_line(strokeDash=[6, 4], strokeWidth=2)
        layers.append(dashed.encode(y=y, **shared))
    if measured := list(drawing.marks.get("measured", ())):
        points = alt.Chart(alt.Data(values=measured))
        dotted = points.mark_line(point={"filled": True, "size": 45}, clip=True)
        layers.append(dotted.encode(y=y, **shared))
        layers += table_names(alt, measured, x, y)
    return alt.layer(*layers).properties(width=WIDTH, height=HEIGHT)


def _sizes(alt: Any, drawing: Drawing) -> Any:  # noqa: ANN401 - altair is not typed
    """Return the axis of sizes, with a tick at every third power of two."""
    sizes = [row["size_bytes"] for row in drawing.rows]
    smallest, largest = min(sizes), max(sizes)
    ticks = [2**power for power in range(3, 42, 3) if smallest <= 2**power <= largest]
    return alt.X(
        "size_bytes:Q",
        title="message size",
        scale=alt.Scale(type="log", base=2, domain=[smallest, largest], nice=False),
        axis=alt.Axis(values=ticks, labelExpr=size_label(), grid=False),
    )


def _colour(alt: Any, drawing: Drawing) -> Any:  # noqa: ANN401 - altair is not typed
    """Return the legend: what is expected, and what else is drawn."""
    fault = list(drawing.marks.get("fault", ()))
    series = [("measured", RED)] if drawing.marks.get("measured") else []
    series += [(fault[0]["what"], ORANGE)] if fault else []
    names = ["expected", "80 % band", *(name for name, _ in series)]
    colours = [BLUE, PALE, *(colour for _, colour in series)]
    return alt.Color("what:N", scale=alt.Scale(domain=names, range=colours))


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


def table_names(alt: Any, rows: list[Any], x: Any, y: Any) -> list[Any]:  # noqa: ANN401
    """Name the curves at their largest size, where a run has several tables."""
    ends = {row.get("test", ""): row for row in sorted(rows, key=lambda r: r["size_bytes"])}
    if len(ends) == 1:
        return []
    last = alt.Chart(alt.Data(values=list(ends.values())))
    words = last.mark_text(align="right", dx=-8, dy=-9, fontSize=11, color=MUTED)
    return [words.encode(x=x, y=y, text="test:N")]


def size_label() -> str:
    """Return the expression that writes sizes in powers of two."""
    steps = (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10))
    text = "datum.value + ' B'"
    for unit, scale in reversed(steps):
        text = f"datum.value >= {scale} ? datum.value / {scale} + ' {unit}' : ({text})"
    return text


busbw_curve = Chart(title="Expected bus bandwidth by message size", build=_build)
