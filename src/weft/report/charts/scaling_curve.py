"""Tokens per second and MFU as the cluster grows."""

from typing import Any

import altair as alt

from weft.report.chart import BLUE, HEIGHT, MUTED, RED
from weft.report.charts._parts import data, layered
from weft.report.page import Drawing


def scaling_curve(drawing: Drawing) -> alt.VConcatChart:
    """Draw tokens per second and MFU as the cluster grows."""
    sizes, base, first = (
        [row["gpus"] for row in drawing.rows],
        data(drawing.rows),
        drawing.rows[0],
    )
    axis = alt.Axis(values=sizes, format="d", grid=False)
    scale = alt.Scale(type="log", base=2, nice=False)
    x = alt.X("gpus:Q", title="GPUs", scale=scale, axis=axis)
    ideal = data(
        {"gpus": n, "tokens_per_s": first["tokens_per_s"] * n / first["gpus"]}
        for n in (sizes[0], sizes[-1])
    )
    least = min(row["tokens_low"] for row in drawing.rows)
    most = max(row["tokens_high"] for row in drawing.rows)
    rate = alt.Y(
        "tokens_per_s:Q",
        title="tokens/s (dashed: ideal)",
        scale=alt.Scale(type="log", domain=(least / 1.2, most * 1.2), nice=False),
        axis=alt.Axis(format="~s", tickCount=5),
    )
    straight = ideal.mark_line(color=MUTED, strokeDash=[4, 4]).encode(x=x, y=rate)
    mfu = alt.Y("mfu:Q", title="MFU, %", scale=alt.Scale(zero=True))
    words = base.mark_text(dy=-12, fontSize=11)
    words = words.encode(x=x, y=mfu, text=alt.Text("mfu:Q", format=".3~g"))
    tokens = _band(base, "tokens", BLUE, {"x": x, "y": rate})
    return alt.vconcat(
        layered(straight, *tokens, height=HEIGHT * 0.7),
        layered(*_band(base, "mfu", RED, {"x": x, "y": mfu}), words, height=HEIGHT * 0.5),
    )


def _band(base: alt.Chart, name: str, colour: str, place: dict[str, Any]) -> list[alt.Chart]:
    """Draw a line with its band, whose ends are columns ``NAME_low`` and ``NAME_high``."""
    low = place["y"].copy()
    low.shorthand = f"{name}_low:Q"
    area = base.mark_area(opacity=0.22, color=colour)
    line = base.mark_line(color=colour, strokeWidth=2.5, point={"size": 45, "color": colour})
    return [area.encode(x=place["x"], y=low, y2=f"{name}_high:Q"), line.encode(**place)]
