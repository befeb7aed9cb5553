"""What a kind of measurement is: rows of published CSV files in, scored predictions out."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache, partial
from importlib import import_module
from typing import Any, Final, Self

from weft.errors import WeftError
from weft.records import table
from weft.results import Estimate

Row = Mapping[str, str]
"""One line of a CSV file, as text by column name; an empty cell is an unstated fact."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """One measurement beside its prediction, both in the unit named by ``quantity``."""

    kind: str
    row: str
    """Identifier of the row in its file (run_id@size, row_id)."""
    site: str
    """Key that leave-one-site-out runs hold out together."""
    labels: Mapping[str, str]
    """What reports group by: collective, fabric, gpu, scale, size, family, health ..."""
    quantity: str
    """busbw_bytes_per_s, time_s, step_s, tokens_per_s_per_gpu, count ..."""
    measured: float
    predicted: float
    low: float
    high: float
    healthy: bool = True

    @classmethod
    def of(cls, found: Estimate, **known: Any) -> Self:  # noqa: ANN401 - the other fields
        """Put a measurement beside an estimate."""
        return cls(predicted=found.value, low=found.low, high=found.high, **known)

    @property
    def error_ratio(self) -> float:
        """Signed error: predicted over measured, less one."""
        return self.predicted / self.measured - 1

    @property
    def inside(self) -> bool:
        """Whether the measurement lies inside the 80 % band."""
        return self.low <= self.measured <= self.high


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """A row that the model does not cover, and why."""

    kind: str
    row: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind of measurement: a row of ``kinds.toml``.

    ``score(tables)`` gets all CSV files of a data folder that are there (name without
    ``.csv`` -> rows) and yields a Score or a LeftOut for every row it is responsible for.
    """

    title: str
    files: tuple[str, ...]
    score: Callable[[Mapping[str, list[Row]]], Iterable[Score | LeftOut]]
    groups_by: tuple[str, ...] = ()
    """Labels that the scoreboard breaks this kind down by."""
    holds_out: bool = False
    """It predicts a row with constants fitted without its site, while ``is_holding_out()``."""


@cache
def all_kinds() -> Mapping[str, Kind]:
    """Return every kind by name."""
    return {name: _kind(name, **row) for name, row in table("weft.accuracy", "kinds").items()}


def _kind(name: str, *, score: str, **row: Any) -> Kind:  # noqa: ANN401 - the other fields
    module, _, function = score.partition(".")
    scores = getattr(import_module(f"weft.accuracy.rows.{module}"), function)
    row |= {key: tuple(row[key]) for key in ("files", "groups_by")}
    return Kind(score=partial(scores, name, **row.pop("with", {})), **row)


def row_by_row(
    kind: str, rows: Iterable[Row], score: Callable[[Row], Score]
) -> Iterator[Score | LeftOut]:
    """Score rows; one that lacks a fact, or that weft refuses, is left out with the reason."""
    for row in rows:
        try:
            yield score(row)
        except (WeftError, ValueError) as problem:
            yield LeftOut(kind=kind, row=row.get("row_id") or "", reason=str(problem))


ONE_HOST: Final = "one_host"
IN_THE_FIT: Final = "in the fit"
"""``health`` of rows that a constant was taken from, where no fit without them exists."""
_HOLDING_OUT: Final[ContextVar[bool]] = ContextVar("holding_out", default=True)


def is_holding_out() -> bool:
    """Tell whether a row is to be predicted by constants whose fit has not seen its site."""
    return _HOLDING_OUT.get()


@contextmanager
def as_shipped() -> Iterator[None]:
    """Predict with the shipped constants for a while, even what their fit has seen."""
    token = _HOLDING_OUT.set(False)
    try:
        yield
    finally:
        _HOLDING_OUT.reset(token)


def factor(score: Score) -> float:
    """Return how many times too large or too small a prediction is; infinite when it is 0."""
    ratio = score.predicted / score.measured
    return max(ratio, 1 / ratio) if ratio > 0 else float("inf")


def is_apart(score: Score) -> bool:
    """Tell whether a row is reported apart: not known to be healthy, or one host alone."""
    return not score.healthy or score.labels.get("scale") == ONE_HOST
