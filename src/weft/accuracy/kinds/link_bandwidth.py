"""Bandwidth of one link: outputs of perftest."""

from functools import partial

from weft.accuracy.kind import Kind
from weft.accuracy.rows.perftest import score_points

link_bandwidth = Kind(
    title="Bandwidth of one link",
    files=("perftest_runs", "perftest_points"),
    score=partial(score_points, "link_bandwidth", "bw"),
    groups_by=("fabric", "verb", "rate", "size"),
)
