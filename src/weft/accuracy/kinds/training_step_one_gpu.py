"""Steps of small models on one GPU: compute without any network, eager and compiled."""

from functools import partial

from weft.accuracy.kind import Kind
from weft.accuracy.kinds.training_step import score_table
from weft.accuracy.rows.gpu_steps import case_of

training_step_one_gpu = Kind(
    title="Training step on one GPU",
    files=("gpu_steps",),
    score=partial(score_table, "training_step_one_gpu", "gpu_steps", read=case_of),
    groups_by=("model", "mode"),
    holds_out=True,
)
