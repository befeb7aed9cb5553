"""vTrain's grid of 1,440 single-host steps: kept apart, since it would dominate the others."""

from collections.abc import Iterator, Mapping

from weft.accuracy.kind import Kind, LeftOut, Row, Score
from weft.accuracy.kinds.training_step import score_rows

NAME = "training_step_single_host"


def _score(tables: Mapping[str, list[Row]]) -> Iterator[Score | LeftOut]:
    rows = tables.get("train_runs_vtrain_single", [])
    yield from score_rows(rows, NAME, is_sampled=True)


training_step_single_host = Kind(
    title="Training step on one host",
    files=("train_runs_vtrain_single",),
    score=_score,
    groups_by=("model", "scale"),
    holds_out=True,
)
