"""How far one timing is from the next, and how the model's errors go together.

Where a run holds the time of every iteration, its own spread is taken; else that which
published sweeps show between their two timings of each size. What both cannot see is what
differs from one day to the next on a healthy system; it is inside the model's band.
"""

import math
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import stdev
from typing import Final

from weft.engines.analytic.collective.spread import bucket

FILE: Final = Path(__file__).with_name("noise.toml")
_FEWEST: Final = 3
"""Iterations from which a spread is read; fewer say nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Errors:
    """How the errors of the model at two sizes of one sweep go together."""

    drifts: tuple[float, ...]
    """Of a step from one size to its half, over the band: scales of Cauchy's law."""
    weights: tuple[float, ...]
    """How many systems drift so; they add up to 1."""
    steps_ratio: float
    """Steps that count as independent, over all there are."""
    tables_ratio: float
    """Correlation of the errors of two tables of one system."""
    degrees: int
    """Of Student's law, whose tails the errors of healthy systems have."""


@cache
def _read() -> tuple[dict[str, float], Errors]:
    raw = tomllib.loads(FILE.read_text("utf-8"))
    noise = {name: float(value["ratio"]) for name, value in raw["noise"].items()}
    own = raw["errors"]
    return noise, Errors(
        drifts=tuple(map(float, own["drifts"])), weights=tuple(map(float, own["weights"])),
        steps_ratio=float(own["steps_ratio"]), tables_ratio=float(own["tables_ratio"]),
        degrees=int(own["degrees"]),
    )  # fmt: skip


def errors() -> Errors:
    """Return how errors of the model go together."""
    return _read()[1]


def published(size_bytes: float) -> float:
    """Return the noise of one timing of a size, as published sweeps show it (relative)."""
    return _read()[0][bucket(size_bytes)]


def measured(times_s: Sequence[float]) -> float | None:
    """Return the noise of the mean of single iterations; none where they are too few.

    >>> measured([1.0, 1.0, 1.0])
    0.0
    """
    if len(times_s) < _FEWEST:
        return None
    logs = [math.log(time_s) for time_s in times_s]
    return stdev(logs) / math.sqrt(len(logs))
