"""vTrain's grid of 1,440 single-host steps: kept apart, since it would dominate the others."""

from functools import partial

from weft.accuracy.kind import Kind
from weft.accuracy.kinds.training_step import score_table

_FILE = "train_runs_vtrain_single"

training_step_single_host = Kind(
    title="Training step on one host",
    files=(_FILE,),
    score=partial(score_table, "training_step_single_host", _FILE, is_sampled=True),
    groups_by=("model", "scale"),
    holds_out=True,
)
