"""Published training runs: MLPerf logs, Megatron-LM, vTrain, NeMo, TorchTitan and others."""

from collections.abc import Iterable, Iterator, Mapping

from weft.accuracy.kind import Kind, LeftOut, Row, Score
from weft.accuracy.rows.training import Case, case_of
from weft.engines.analytic.step import resolve, step_time
from weft.errors import WeftError

NAME = "training_step"


def score_rows(rows: Iterable[Row], kind: str) -> Iterator[Score | LeftOut]:
    """Score rows of a table of training runs."""
    for row in rows:
        identity = row.get("row_id", "")
        case = case_of(row)
        if isinstance(case, str):
            yield LeftOut(kind=kind, row=identity, reason=case)
            continue
        yield score_case(case, identity, kind)


def score_case(case: Case, row: str, kind: str) -> Score | LeftOut:
    """Predict one case; what weft refuses is left out with its reason."""
    try:
        # Stated layouts ran, so memory is not asked; a searched one has to fit.
        job = resolve(case.cluster, case.job, fits=False)
        step = step_time(case.cluster, job).step_s
    except WeftError as error:
        return LeftOut(kind=kind, row=row, reason=f"{error.code}: {error}")
    return Score(
        kind=kind,
        row=row,
        site=case.labels["family"],
        labels=case.labels,
        quantity="step_s",
        measured=case.measured_s,
        predicted=step.value,
        low=step.low,
        high=step.high,
    )


def _score(tables: Mapping[str, list[Row]]) -> Iterator[Score | LeftOut]:
    yield from score_rows(tables.get("train_runs", []), NAME)


training_step = Kind(
    title="Training step",
    files=("train_runs",),
    score=_score,
    groups_by=("family", "gpu", "scale", "assumed"),
)
