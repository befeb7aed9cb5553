"""Collectives from 64 MiB: nccl-tests and rccl-tests sweeps."""  # noqa: N999 - the name is an interface

from collections.abc import Iterable, Mapping

from weft.accuracy.kind import Kind, LeftOut, Row, Score
from weft.accuracy.rows.collective import score_points

_NAME = "collective_from_64MiB"


def _score(tables: Mapping[str, list[Row]]) -> Iterable[Score | LeftOut]:
    return score_points(_NAME, tables, large=True)


collective_from_64MiB = Kind(  # noqa: N816 - the name is part of the interface
    title="Collectives from 64 MiB",
    files=("nccl_runs", "nccl_points"),
    score=_score,
    groups_by=("collective", "fabric", "gpu", "scale", "size"),
    holds_out=True,
)
