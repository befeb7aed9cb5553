"""Single published values of a collective whose size is stated."""

from collections.abc import Iterable, Mapping

from weft.accuracy.kind import Kind, LeftOut, Row, Score
from weft.accuracy.rows.collective import score_summary

_NAME = "collective_summary"


def _score(tables: Mapping[str, list[Row]]) -> Iterable[Score | LeftOut]:
    return score_summary(_NAME, tables.get("nccl_summary", []))


collective_summary = Kind(
    title="Single published values of collectives",
    files=("nccl_summary",),
    score=_score,
    groups_by=("collective", "fabric", "gpu", "scale"),
    holds_out=True,
)
