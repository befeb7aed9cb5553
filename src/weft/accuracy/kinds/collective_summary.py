"""Single published values of a collective whose size is stated."""

from functools import partial

from weft.accuracy.kind import Kind
from weft.accuracy.rows.collective import score_summary

collective_summary = Kind(
    title="Single published values of collectives",
    files=("nccl_summary",),
    score=partial(score_summary, "collective_summary"),
    groups_by=("collective", "fabric", "gpu", "scale"),
    holds_out=True,
)
