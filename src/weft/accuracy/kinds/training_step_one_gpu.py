"""Steps of small models on one GPU: compute without any network, eager and compiled."""

from collections.abc import Iterator, Mapping

from weft.accuracy.kind import Kind, LeftOut, Row, Score
from weft.accuracy.kinds.training_step import score_cases
from weft.accuracy.rows.gpu_steps import case_of

NAME = "training_step_one_gpu"


def _score(tables: Mapping[str, list[Row]]) -> Iterator[Score | LeftOut]:
    yield from score_cases(tables.get("gpu_steps", []), NAME, case_of)


training_step_one_gpu = Kind(
    title="Training step on one GPU",
    files=("gpu_steps",),
    score=_score,
    groups_by=("model", "mode"),
    holds_out=True,
)
