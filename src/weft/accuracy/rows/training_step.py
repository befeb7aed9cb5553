"""Published training runs: MLPerf logs, Megatron-LM, vTrain, NeMo, TorchTitan and others."""

from collections.abc import Callable, Iterator, Mapping
from math import exp, hypot, log
from typing import Final

from weft.accuracy.kind import LeftOut, Row, Score, is_holding_out
from weft.accuracy.rows.training import Case, case_of, family_key
from weft.engines.analytic.step import resolve, step_time
from weft.engines.analytic.step.constants import constants, constants_without, seen_rows
from weft.errors import WeftError
from weft.results import Estimate


def score_table(
    kind: str,
    tables: Mapping[str, list[Row]],
    *,
    file: str,
    read: Callable[[Row], Case | str] = case_of,
    is_sampled: bool = False,
) -> Iterator[Score | LeftOut]:
    """Score the rows of a table that ``read`` makes cases of; a fit may have seen a sample."""
    for row in tables.get(file, []):
        identity, case = row.get("row_id", ""), read(row)
        if isinstance(case, str):
            yield LeftOut(kind=kind, row=identity, reason=case)
        else:
            yield _score_case(case, identity, kind, is_sampled=is_sampled)


def _score_case(case: Case, row: str, kind: str, *, is_sampled: bool) -> Score | LeftOut:
    """Predict one case; what weft refuses is left out with its reason.

    A row that the fit has used is predicted with constants fitted without its family, and so
    are the neighbours of rows that were sampled from a grid.
    """
    try:
        # Stated layouts ran, so memory is not asked; a searched one has to fit.
        job = resolve(case.cluster, case.job, fits=False)
        seen = is_holding_out() and (is_sampled or row in seen_rows())
        fitted = constants_without(family_key(case.labels["family"])) if seen else constants()
        step = step_time(case.cluster, job, fitted=fitted).step_s
    except WeftError as error:
        return LeftOut(kind=kind, row=row, reason=f"{error.code}: {error}")
    wider = doubt_of(case.labels.get("assumed", ""))
    band = Estimate(step.value, step.low / wider, step.high * wider)
    return Score.of(
        band, kind=kind, row=row, site=family_key(case.labels["family"]), labels=case.labels,
        quantity="step_s", measured=case.measured_s, healthy=case.doubt is None,
    )  # fmt: skip


WIDER: Final = {"layout": 1.06, "precision": 1.06, "shape": 1.03, "sequence": 1.03}
"""Factor on both ends of the band for what a table leaves open: as much as a neighbouring
layout, another rounding of the layers or the other kind of sequence changes the step."""


def doubt_of(assumed: str) -> float:
    """Return the factor that assumptions widen a band by; they are independent.

    >>> doubt_of("nothing"), round(doubt_of("precision+layout"), 3)
    (1.0, 1.086)
    """
    known = [log(WIDER[part]) for part in assumed.split("+") if part in WIDER]
    return exp(hypot(*known))
