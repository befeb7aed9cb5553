"""Bandwidth of one link: outputs of perftest."""

from collections.abc import Iterable, Mapping

from weft.accuracy.kind import Kind, LeftOut, Row, Score
from weft.accuracy.rows.perftest import score_points

_NAME = "link_bandwidth"


def _score(tables: Mapping[str, list[Row]]) -> Iterable[Score | LeftOut]:
    return score_points(_NAME, "bw", tables)


link_bandwidth = Kind(
    title="Bandwidth of one link",
    files=("perftest_runs", "perftest_points"),
    score=_score,
    groups_by=("fabric", "verb", "rate", "size"),
)
