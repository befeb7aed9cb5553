"""Latency of one message: outputs of perftest."""

from collections.abc import Iterable, Mapping

from weft.accuracy.kind import Kind, LeftOut, Row, Score
from weft.accuracy.rows.perftest import score_points

_NAME = "latency"


def _score(tables: Mapping[str, list[Row]]) -> Iterable[Score | LeftOut]:
    return score_points(_NAME, "lat", tables)


latency = Kind(
    title="Latency of one message",
    files=("perftest_runs", "perftest_points"),
    score=_score,
    groups_by=("fabric", "verb", "rate", "size"),
)
