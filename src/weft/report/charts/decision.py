"""What each candidate costs and how long its step takes, the recommended one marked."""

import altair as alt

from weft.report.chart import GREEN, INK, ROW_HEIGHT, SKY, WIDTH
from weft.report.charts._parts import colours, data
from weft.report.page import Drawing

COLOURS = {"recommended": GREEN, "costs the same": SKY, "other": "#b6bfc9"}
LEFT_SHARE = 0.55
"""Of the width, for the cost."""


def decision(drawing: Drawing) -> alt.HConcatChart:
    """Draw cost and step time of each candidate."""
    usd = _panel(drawing, "usd", "USD per 1T tokens, with its 80 % band", is_named=True)
    step = _panel(drawing, "step_s", "seconds per step", is_named=False)
    return alt.hconcat(usd, step, spacing=24)


def _panel(drawing: Drawing, name: str, title: str, *, is_named: bool) -> alt.LayerChart:
    base, labels = data(drawing.rows), [row["label"] for row in drawing.rows]
    axis = alt.Axis(ticks=False, domain=False) if is_named else None
    y = alt.Y("label:N", sort=labels, title=None, axis=axis)
    longest = max(row[f"{name}_high"] for row in drawing.rows)
    scale, ticks = alt.Scale(domain=[0, longest * 1.4]), alt.Axis(format="~s", tickCount=4)
    x = alt.X(f"{name}:Q", title=title, scale=scale, axis=ticks)
    bars = base.mark_bar(size=18).encode(y=y, x=x, color=colours("verdict", COLOURS))
    band = base.mark_rule(strokeWidth=1.5, color=INK)
    words = base.mark_text(align="left", dx=6, fontSize=12)
    layers = alt.layer(
        bars,
        band.encode(y=y, x=f"{name}_low:Q", x2=f"{name}_high:Q"),
        words.encode(y=y, x=f"{name}_high:Q", text=f"{name}_text:N"),
    )
    width = WIDTH * (LEFT_SHARE if is_named else 1 - LEFT_SHARE)
    return layers.properties(width=width, height=ROW_HEIGHT * len(labels))
