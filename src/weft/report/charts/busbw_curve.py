"""Bus bandwidth against message size: expected with its band, measured points where given."""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from weft.report.chart import BLUE, MUTED, ORANGE, PALE, RED
from weft.report.charts._parts import colours, data, layered
from weft.report.page import Drawing

TITLE = "busbw, GB/s"


def busbw_curve(drawing: Drawing) -> alt.LayerChart:
    """Draw expected bus bandwidth by message size."""
    fault, measured = drawing.marks.get("fault", ()), drawing.marks.get("measured", ())
    legend = {"expected": BLUE, "80 % band": PALE} | ({"measured": RED} if measured else {})
    legend |= {fault[0]["what"]: ORANGE} if fault else {}
    x, y, base = _sizes(drawing), alt.Y("busbw:Q", title=TITLE), data(drawing.rows)
    # Each table of a run is a curve of its own.
    shared = {"x": x, "color": colours("what", legend), "detail": alt.Detail("test:N")}
    band = base.transform_calculate(what="'80 % band'").mark_area()
    line = base.transform_calculate(what="'expected'").mark_line(strokeWidth=2.5)
    layers = [
        band.encode(y=alt.Y("low:Q", title=TITLE), y2="high:Q", **shared),
        line.encode(y=y, **shared),
        *_switches(base, x),
    ]
    if fault:
        dashed = data(fault).mark_line(strokeDash=[6, 4], strokeWidth=2)
        layers.append(dashed.encode(y=y, **shared))
    if measured:
        dotted = data(measured).mark_line(point={"filled": True, "size": 45}, clip=True)
        layers.append(dotted.encode(y=y, **shared))
        layers += table_names(measured, x, y)
    return layered(*layers)


def _sizes(drawing: Drawing) -> alt.X:
    """Return the axis of sizes, with a tick at every third power of two."""
    sizes = [row["size_bytes"] for row in drawing.rows]
    smallest, largest = min(sizes), max(sizes)
    ticks = [2**power for power in range(3, 42, 3) if smallest <= 2**power <= largest]
    return size_axis([smallest, largest], ticks)


def size_axis(ends: Sequence[float], ticks: Sequence[float]) -> alt.X:
    """Return the axis of message sizes, in powers of two."""
    return alt.X(
        "size_bytes:Q",
        title="message size",
        scale=alt.Scale(type="log", base=2, domain=list(ends), nice=False),
        axis=alt.Axis(values=list(ticks), labelExpr=_size_label(), grid=False),
    )


def _size_label() -> str:
    """Return the expression that writes sizes in powers of two."""
    steps = (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10))
    text = "datum.value + ' B'"
    for unit, scale in reversed(steps):
        text = f"datum.value >= {scale} ? datum.value / {scale} + ' {unit}' : ({text})"
    return text


def _switches(base: alt.Chart, x: alt.X) -> list[alt.Chart]:
    """Mark the sizes at which NCCL is expected to change its mind."""
    changed = (
        base.transform_window(before="lag(choice)", sort=[alt.SortField("size_bytes")])
        .transform_filter("datum.choice != datum.before")
        .transform_calculate(height="max(datum.high, 0)")
    )
    dots = changed.mark_point(filled=True, size=60, color=BLUE, opacity=1)
    words = changed.encode(x=x, y="busbw:Q", text="choice:N")
    small = "(datum.size_bytes <= 512)"
    return [
        dots.encode(x=x, y="busbw:Q"),
        words.transform_filter(small).mark_text(align="left", dx=4, dy=-12, fontSize=11),
        words.transform_filter(f"!{small}").mark_text(
            align="right", dx=-6, dy=-10, fontSize=11
        ),
    ]


def table_names(rows: Sequence[Mapping[str, Any]], x: alt.X, y: alt.Y) -> list[alt.Chart]:
    """Name the curves at their largest size, where a run has several tables."""
    by_size = sorted(rows, key=lambda row: row["size_bytes"])
    ends = {row.get("test", ""): row for row in by_size}
    if len(ends) == 1:
        return []
    words = data(ends.values()).mark_text(
        align="right", dx=-8, dy=-9, fontSize=11, color=MUTED
    )  # fmt: skip
    return [words.encode(x=x, y=y, text="test:N")]
