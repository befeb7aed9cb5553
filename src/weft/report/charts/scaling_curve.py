"""Tokens per second and MFU as the cluster grows."""

from typing import Any

from weft.report.chart import BLUE, HEIGHT, MUTED, RED, WIDTH, Chart
from weft.report.page import Drawing


def _build(drawing: Drawing) -> Any:  # noqa: ANN401 - altair is not typed
    import altair as alt  # noqa: PLC0415 - 0.3 s that only charts need

    sizes = [row["gpus"] for row in drawing.rows]
    axis = alt.Axis(values=sizes, format="d", grid=False)
    x = alt.X(
        "gpus:Q", title="GPUs", scale=alt.Scale(type="log", base=2, nice=False), axis=axis
    )
    base = alt.Chart(alt.Data(values=list(drawing.rows)))
    first = drawing.rows[0]
    ideal = [
        {"gpus": n, "tokens_per_s": first["tokens_per_s"] * n / first["gpus"]}
        for n in (sizes[0], sizes[-1])
    ]
    rate = alt.Y(
        "tokens_per_s:Q",
        title="tokens/s (dashed: ideal)",
        scale=alt.Scale(type="log", domain=_domain(drawing), nice=False),
        axis=alt.Axis(format="~s", tickCount=5),
    )
    straight = (
        alt.Chart(alt.Data(values=ideal))
        .mark_line(color=MUTED, strokeDash=[4, 4])
        .encode(x=x, y=rate)
    )
    top = alt.layer(straight, *_band(base, "tokens", BLUE, {"x": x, "y": rate}))
    mfu = alt.Y("mfu:Q", title="MFU, %", scale=alt.Scale(zero=True))
    words = base.mark_text(dy=-12, fontSize=11).encode(
        x=x, y=mfu, text=alt.Text("mfu:Q", format=".3~g")
    )
    bottom = alt.layer(*_band(base, "mfu", RED, {"x": x, "y": mfu}), words)
    return alt.vconcat(
        top.properties(width=WIDTH, height=HEIGHT * 0.7),
        bottom.properties(width=WIDTH, height=HEIGHT * 0.5),
    )


def _domain(drawing: Drawing) -> tuple[float, float]:
    low = min(row["tokens_low"] for row in drawing.rows)
    return low / 1.2, max(row["tokens_high"] for row in drawing.rows) * 1.2


def _band(base: Any, name: str, colour: str, place: dict[str, Any]) -> list[Any]:  # noqa: ANN401 - altair is not typed
    """Draw a line with its band, whose ends are columns ``NAME_low`` and ``NAME_high``."""
    low = place["y"].copy()
    low.shorthand = f"{name}_low:Q"
    dots = {"size": 45, "color": colour}
    return [
        base.mark_area(opacity=0.22, color=colour).encode(
            x=place["x"], y=low, y2=f"{name}_high:Q"
        ),
        base.mark_line(color=colour, strokeWidth=2.5, point=dots).encode(**place),
    ]


scaling_curve = Chart(title="Tokens per second and MFU as the cluster grows", build=_build)
