"""Latency of one message: outputs of perftest."""

from functools import partial

from weft.accuracy.kind import Kind
from weft.accuracy.rows.perftest import score_points

latency = Kind(
    title="Latency of one message",
    files=("perftest_runs", "perftest_points"),
    score=partial(score_points, "latency", "lat"),
    groups_by=("fabric", "verb", "rate", "size"),
)
