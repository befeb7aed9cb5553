"""What each candidate costs and how long its step takes, the recommended one marked."""

from typing import Any

from weft.report.chart import GREEN, INK, ROW_HEIGHT, SKY, WIDTH, Chart
from weft.report.page import Drawing

COLOURS = {"recommended": GREEN, "costs the same": SKY, "other": "#b6bfc9"}
LEFT_SHARE = 0.55
"""Of the width, for the cost."""


def _build(drawing: Drawing) -> Any:  # noqa: ANN401 - altair is not typed
    import altair as alt  # noqa: PLC0415 - 0.3 s that only charts need

    rows = list(drawing.rows)
    labels = [row["label"] for row in rows]
    base = alt.Chart(alt.Data(values=rows))
    colour = alt.Color(
        "verdict:N",
        scale=alt.Scale(domain=list(COLOURS), range=list(COLOURS.values())),
    )

    def panel(name: str, title: str, *, named: bool) -> Any:  # noqa: ANN401 - as above
        axis = alt.Axis(ticks=False, domain=False) if named else None
        y = alt.Y("label:N", sort=labels, title=None, axis=axis)
        longest = max(row[f"{name}_high"] for row in rows)
        x = alt.X(f"{name}:Q", title=title, scale=alt.Scale(domain=[0, longest * 1.4]),
                  axis=alt.Axis(format="~s", tickCount=4))  # fmt: skip
        bars = base.mark_bar(size=18).encode(y=y, x=x, color=colour)
        band = base.mark_rule(strokeWidth=1.5, color=INK).encode(
            y=y, x=f"{name}_low:Q", x2=f"{name}_high:Q"
        )
        words = base.mark_text(align="left", dx=6, fontSize=12).encode(
            y=y, x=f"{name}_high:Q", text=f"{name}_text:N"
        )
        width = WIDTH * (LEFT_SHARE if named else 1 - LEFT_SHARE)
        layers = alt.layer(bars, band, words)
        return layers.properties(width=width, height=ROW_HEIGHT * len(labels))

    return alt.hconcat(
        panel("usd", "USD per 1T tokens, with its 80 % band", named=True),
        panel("step_s", "seconds per step", named=False),
        spacing=24,
    )


decision = Chart(title="Cost and step time of each candidate", build=_build)
