"""Failures: stops per GPU and day, and the share of time that training keeps."""

import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Final

from weft.accuracy.kind import IN_THE_FIT, LeftOut, Row, Score, row_by_row
from weft.engines.analytic.step.goodput import (
    CHECKPOINT_S,
    DAY_S,
    RESTART_S,
    STOPS_PER_GPU_DAY,
    progress_ratio,
)
from weft.errors import SpecError
from weft.results import Estimate
from weft.units import SECONDS

_GPUS_PER_HOST: Final = 8
_STOPS: Final = re.compile(
    r"unexpected interruptions|restarts|machines down|^failures$|^GPU loss", re.IGNORECASE
)
_KEPT: Final = re.compile(r"effective training time|\bETTR\b|uptime", re.IGNORECASE)
_MEAN: Final = re.compile(r"MTTF|mean time between", re.IGNORECASE)
_DAYS: Final = {"day": 1.0, "week": 7.0, "month": 30.4, "year": 365.0}
_PERIOD: Final = re.compile(r"(\d+(?:\.\d+)?)\s*(day|week|month|year)s?")
_DEFAULT: Final = re.compile(r"Llama 3", re.IGNORECASE)
"""Whose count the default rate is."""
_STEP_S: Final = 10.0
"""Length of a step where none is stated; the share hardly depends on it."""


def score(kind: str, tables: Mapping[str, list[Row]]) -> Iterator[Score | LeftOut]:
    """Score stops, and the share of time that is kept."""
    return row_by_row(kind, tables.get("failures", []), partial(_scored, kind))


def _scored(kind: str, row: Row) -> Score:
    what = row.get("subcategory") or ""
    if _KEPT.search(what):
        measured, found, quantity = _kept(row), _predicted_kept(row), "goodput_ratio"
    else:
        measured, quantity = _stops_per_gpu_day(row, what), "stops_per_gpu_day"
        rate = STOPS_PER_GPU_DAY
        found = Estimate(rate.value, rate.low, rate.high)
    study = row.get("study") or ""
    own = quantity == "stops_per_gpu_day" and bool(_DEFAULT.search(study))
    return Score.of(
        found, kind=kind, row=row.get("row_id") or "", site=study, quantity=quantity,
        labels={"figure": quantity, "study": study, "health": IN_THE_FIT if own else ""},
        measured=measured, healthy=not own,
    )  # fmt: skip


def _stops_per_gpu_day(row: Row, what: str) -> float:
    unit = (row.get("rate_unit") or "").strip()
    if "projected" in unit:
        raise SpecError("a projection, not a measurement")
    if unit == "per 1000 node-days":
        return _number(row) / 1000 / _GPUS_PER_HOST
    if unit == "GPU-days" and _MEAN.search(what):
        return 1 / _number(row)
    if unit in {"h", "days"} and _MEAN.search(what):
        days = _number(row) * SECONDS[unit] / DAY_S
        return 1 / (days * _gpus(row))
    if not _STOPS.search(what):
        raise SpecError("a cause, a share or a size that no prediction of weft stands for")
    if unit == "per day":
        return _number(row) / _gpus(row)
    return _number(row) / (_gpus(row) * _days(row))


def _number(row: Row) -> float:
    """Return a figure; the middle of a range on a logarithmic scale."""
    text = (row.get("rate") or row.get("count") or "").strip()
    if text.startswith((">", "<")):
        raise SpecError("a bound, not a value")
    ends = [float(n) for n in re.findall(r"\d+(?:\.\d+)?", text.replace(",", ""))]
    if not ends or min(ends) <= 0:
        raise SpecError("no figure above zero")
    return float((ends[0] * ends[-1]) ** 0.5) if "-" in text else ends[0]


def _gpus(row: Row) -> float:
    text = row.get("gpus") or ""
    said = re.search(r"([\d,]+) GPUs", row.get("subcategory") or "")
    found = re.fullmatch(r"[\d,]+", text) or said
    gpus = float(found[found.lastindex or 0].replace(",", "") or 0) if found else 0.0
    if gpus <= 0:
        raise SpecError("number of GPUs not stated")
    return gpus


def _days(row: Row) -> float:
    said = _PERIOD.search(row.get("period") or "")
    if said is None or float(said[1]) <= 0:
        raise SpecError("length of the period not stated")
    return float(said[1]) * _DAYS[said[2]]


def _kept(row: Row) -> float:
    share = _number(row)
    ratio = share / 100 if "%" in (row.get("rate_unit") or "") else share
    if not 0 < ratio <= 1:
        raise SpecError("share of time is not between 0 and 1")
    return ratio


def _predicted_kept(row: Row) -> Estimate:
    gpus = _gpus(row)
    ends = [
        progress_ratio(
            getattr(STOPS_PER_GPU_DAY, end) * gpus / DAY_S,
            getattr(RESTART_S, end),
            getattr(CHECKPOINT_S, end),
            None,
            _STEP_S,
        )
        for end in ("value", "high", "low")
    ]
    return Estimate(*ends)
