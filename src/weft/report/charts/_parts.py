"""What several charts are made of."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import altair as alt

from weft.report.chart import HEIGHT, WIDTH


def data(rows: Iterable[Mapping[str, Any]]) -> alt.Chart:
    """Return a chart of rows, to be given marks."""
    return alt.Chart(alt.Data(values=list(rows)))


def names(field: str, order: Sequence[str]) -> alt.Y:
    """Return the axis of bars that lie: one name below the other, no ticks."""
    axis = alt.Axis(ticks=False, domain=False)
    return alt.Y(f"{field}:N", sort=list(order), title=None, axis=axis)


def colours(field: str, by_name: Mapping[str, str], **more: Any) -> alt.Color:  # noqa: ANN401 - of altair
    """Return the colour of each name of a field."""
    scale = alt.Scale(domain=list(by_name), range=list(by_name.values()))
    return alt.Color(f"{field}:N", scale=scale, **more)


def labels_of(rows: Iterable[Mapping[str, Any]], field: str) -> list[str]:
    """Return the names of a field in the order of the rows, each once."""
    return list(dict.fromkeys(row[field] for row in rows))


def layered(*layers: alt.Chart, height: float = HEIGHT) -> alt.LayerChart:
    """Lay marks over one another in the usual size."""
    return alt.layer(*layers).properties(width=WIDTH, height=height)
