"""Trends: whether predictions of one series stand in the order of its measurements."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import combinations
from typing import Final

from weft.accuracy.kind import Row, Score

SERIES: Final = ("family", "model", "gpu", "framework", "precision", "seq_len")
"""Columns that the rows of one series have in common; their sizes and layouts differ."""
SAME: Final = 0.02
"""Measurements nearer than this have no order: runs of one system repeat no better."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trend:
    """Pairs of measurements of one series, and how many are predicted in their order."""

    kind: str
    name: str
    """``gpus``: pairs of different numbers of GPUs; ``layout``: of the same number."""
    series: int
    pairs: int
    right_order_ratio: float


def trends(scores: Iterable[Score], source: Callable[[Score], Row]) -> list[Trend]:
    """Return how well each kind of training run is ordered, by size and by layout."""
    series: dict[tuple[str, ...], list[tuple[str, Score]]] = defaultdict(list)
    for score in scores:
        row = source(score)
        if score.quantity == "step_s" and row.get("gpus"):
            key = (score.kind, *(row.get(column) or "" for column in SERIES))
            series[key].append((row["gpus"], score))
    pairs: dict[tuple[str, str], list[tuple[tuple[str, ...], bool]]] = defaultdict(list)
    for key, members in series.items():
        for (gpus, item), (others, other) in combinations(members, 2):
            if abs(item.measured / other.measured - 1) > SAME:
                name = "layout" if gpus == others else "gpus"
                pairs[key[0], name].append((key, _is_in_order(item, other)))
    return [_trend(kind, name, found) for (kind, name), found in sorted(pairs.items())]


def _is_in_order(one: Score, other: Score) -> bool:
    return (one.measured < other.measured) == (one.predicted < other.predicted)


def _trend(kind: str, name: str, found: list[tuple[tuple[str, ...], bool]]) -> Trend:
    return Trend(
        kind=kind, name=name, series=len({key for key, _ in found}), pairs=len(found),
        right_order_ratio=sum(right for _, right in found) / len(found),
    )  # fmt: skip
