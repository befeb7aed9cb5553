"""How likely a curve makes a sweep: what the model errs by drifts from size to size.

What healthy published sweeps leave over, log(measured / expected), is one height at the largest
size that then drifts in small steps, with a jump where the library changes its algorithm
elsewhere than the model thinks::

    height of the largest size   ~ Student(0, band)
    step to the next smaller     ~ Cauchy(0, drift x band x doublings, noise, shape error)

So a scale factor common to all sizes is one event, told once, and not as many as there are
sizes; and a plateau, a slope and a bump are told apart. Some systems keep to the shape of the
model closely and some do not: the drift is integrated over what the published ones show. Their
steps are not independent either, so all of a sweep count as ``steps_ratio`` of their number.
Tables of one run (several collectives, several adapters) share part of their height. The cost
of a fault may be off as a whole (one factor on its logarithm, integrated over) and in its shape
(a share of each step of its curve).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from weft.bench import noise, student
from weft.bench.expected import Expected, Setting

Floats = NDArray[np.float64]

FAULT_ERROR_RATIO: Final = 0.2
"""How far the cost of a fault may be from what the model says, as a share of its logarithm.

A calibrated band is of the sound system alone: without this a fault would be told from its
neighbours by the model's last per cent. Judgement: large predictions err by 10 to 20 %.
"""
SHAPE_ERROR_RATIO: Final = 0.2
"""The same of each step of its curve beside that of the whole: where it sets in is known no
better than how much it costs."""
_UNKNOWN: Final = math.log(2)
"""Spread of a deviation that no fault describes: a factor of two either way."""
_UNKNOWN_DOUBLINGS: Final = 3.0
"""Over how many doublings of size it changes as much: one algorithm rules as many."""
_NODES: Final = 57
"""Points of the integral over the error of a fault's cost, an eighth of its spread apart.

An own good run knows its height within 2 %, and a fault that takes e times as long is known
within 20 %: points farther apart would let a fault win by lying on one of them."""
_REACH: Final = 3.5
"""Spreads from the middle to the end of that integral: beyond lies one in two thousand."""
_BAND: Final = 0.9
_LEAST: Final = 1e-3
_TINY: Final = 1e-8
"""A variance below every noise, so that none is zero."""


class Unknown(Enum):
    """What of a deviation no fault describes."""

    NOTHING = "nothing"
    HEIGHT = "height"
    """It may be of any height; its shape drifts as that of healthy systems."""
    SHAPE = "shape"
    """Its shape may be any as well."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """One curve of a run, from its largest size to its smallest."""

    places: tuple[int, ...]
    """Of its sizes among the timings of the sweep."""
    gaps: tuple[float, ...]
    """log(measured / expected)."""
    above: tuple[float, ...]
    below: tuple[float, ...]
    noises: tuple[float, ...]
    doublings: tuple[float, ...]
    degrees: int


Fit = tuple[Table, ...]
"""What the likelihood needs of a sweep."""


def fit_of(setting: Setting, points: Sequence[Expected]) -> Fit:
    """Lay a sweep over what is expected, table by table."""
    tables: dict[object, list[int]] = {}
    for place, timing in enumerate(setting.sweep.timings):
        tables.setdefault(timing.test, []).append(place)
    return tuple(_table(setting, points, places) for places in tables.values())


def _table(setting: Setting, points: Sequence[Expected], places: Sequence[int]) -> Table:
    timings = setting.sweep.timings
    order = sorted(places, key=lambda place: -timings[place].size_bytes)
    seen = [(timings[place], points[place]) for place in order]
    wide = [student.quantile(_BAND, p.degrees) for _, p in seen]
    return Table(
        places=tuple(order),
        gaps=tuple(math.log(t.time_s / p.time_s.value) for t, p in seen),
        above=tuple(
            max(_LEAST, math.log(p.time_s.high / p.time_s.value)) / w
            for (_, p), w in zip(seen, wide, strict=True)
        ),
        below=tuple(
            max(_LEAST, math.log(p.time_s.value / p.time_s.low)) / w
            for (_, p), w in zip(seen, wide, strict=True)
        ),
        noises=tuple(t.noise_ratio for t, _ in seen),
        doublings=tuple(math.log2(t.size_bytes) for t, _ in seen),
        degrees=min(p.degrees for _, p in seen),
    )


def with_gaps(fit: Fit, gaps: Sequence[float]) -> Fit:
    """Return the fit of a run that had other deviations, in the order of its timings."""
    return tuple(replace(table, gaps=tuple(gaps[p] for p in table.places)) for table in fit)


@cache
def normal_points(count: int) -> tuple[Floats, Floats]:
    """Return points evenly apart and their weights, which add up to 1, in a normal law.

    >>> points, weights = normal_points(57)
    >>> round(float((weights * points**2).sum()), 2)
    1.0
    >>> [float(point[0]) for point in normal_points(1)]
    [0.0, 1.0]
    """
    points = np.linspace(-_REACH, _REACH, count) if count > 1 else np.zeros(1)
    weights = np.exp(-(points**2) / 2)
    return points, weights / weights.sum()


def log_likelihoods(fit: Fit, shifts: Sequence[Sequence[float]]) -> list[float]:
    """Return how likely each deviation (in logarithms of time) makes a sweep."""
    return _logs(fit, shifts, _NODES)


def log_of_none(fit: Fit, unknown: Unknown = Unknown.NOTHING) -> float:
    """Return how likely no deviation makes a sweep, or one that no fault describes."""
    (found,) = _logs(fit, [[0.0] * sum(len(t.places) for t in fit)], 1, unknown)
    return found


def _logs(
    fit: Fit,
    shifts: Sequence[Sequence[float]],
    count: int,
    unknown: Unknown = Unknown.NOTHING,
) -> list[float]:
    own, curves = noise.errors(), np.asarray(shifts)
    nodes, weights = normal_points(count)
    costs = curves[:, None, :] * (1 + FAULT_ERROR_RATIO * nodes)[None, :, None]
    heights = _heights(fit, costs, unknown=unknown is not Unknown.NOTHING)
    wild = unknown is Unknown.SHAPE
    drifts = [_steps(fit, costs, curves, drift, unknown=wild) for drift in own.drifts]
    logs = np.stack([heights + steps for steps in drifts], axis=2)
    shares = np.outer(weights, own.weights)
    most = logs.max(axis=(1, 2), keepdims=True)
    found = most[:, 0, 0] + np.log((np.exp(logs - most) * shares).sum(axis=(1, 2)))
    return [float(log) for log in found]


def _heights(fit: Fit, costs: Floats, *, unknown: bool) -> Floats:
    """Return the likelihood of the largest sizes of all tables, by curve and cost."""
    share, found = noise.errors().tables_ratio, np.zeros(costs.shape[:2])
    first: Floats | None = None
    for table in fit:
        height = table.gaps[0] - costs[:, :, table.places[0]]
        scale, ratio = (table.above[0] + table.below[0]) / 2, 1.0
        if first is None:
            first = height / scale
        else:
            height = height - share * first * scale
            ratio = math.sqrt(1 - share**2)
        found += _height(table, height, ratio, unknown=unknown)
    return found


def _steps(fit: Fit, costs: Floats, curves: Floats, drift: float, *, unknown: bool) -> Floats:
    """Return the likelihood of all steps from size to size, by curve and cost."""
    found = np.zeros(costs.shape[:2])
    for table in fit:
        scales = (np.asarray(table.above) + np.asarray(table.below))[1:] / 2
        apart = np.abs(np.diff(table.doublings))
        spread = np.square(drift * scales * apart) + np.square(table.noises[1:]) + _TINY
        own = curves[:, list(table.places)]
        spread = spread + np.square(SHAPE_ERROR_RATIO * np.diff(own, axis=1))
        if unknown:
            spread = spread + np.square(_UNKNOWN / _UNKNOWN_DOUBLINGS * apart)
        step = np.diff(np.asarray(table.gaps) - costs[:, :, list(table.places)], axis=2)
        wide = np.log(math.pi * np.sqrt(spread)).sum(axis=1)
        found -= wide[:, None] + np.log1p(step**2 / spread[:, None, :]).sum(axis=2)
    return found * noise.errors().steps_ratio


def _height(table: Table, height: Floats, ratio: float, *, unknown: bool) -> Floats:
    """Return the likelihood of the height of a table, by the side of the band it is on."""
    more = table.noises[0] ** 2 + (_UNKNOWN**2 if unknown else 0.0)
    above = math.sqrt((table.above[0] * ratio) ** 2 + more)
    below = math.sqrt((table.below[0] * ratio) ** 2 + more)
    nu = table.degrees
    constant = (
        math.lgamma((nu + 1) / 2) - math.lgamma(nu / 2) - math.log(nu * math.pi) / 2
        + math.log(2 / (above + below))
    )  # fmt: skip
    scaled = height / np.where(height > 0, above, below)
    found: Floats = constant - (nu + 1) / 2 * np.log1p(scaled**2 / nu)
    return found
