"""Collectives below 64 MiB: nccl-tests and rccl-tests sweeps."""  # noqa: N999 - the name is an interface

from functools import partial

from weft.accuracy.kind import Kind
from weft.accuracy.rows.collective import score_points

collective_below_64MiB = Kind(  # noqa: N816 - the name is part of the interface
    title="Collectives below 64 MiB",
    files=("nccl_runs", "nccl_points"),
    score=partial(score_points, "collective_below_64MiB", large=False),
    groups_by=("collective", "fabric", "gpu", "scale", "size"),
    holds_out=True,
)
