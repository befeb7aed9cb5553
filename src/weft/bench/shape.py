"""Which fault fits the shape of a deviation: whose curve makes the run how likely.

Errors of the model at two sizes go together, so a plateau, a slope and a bump are told apart::

    log(measured / curve of the fault)
        ~ Student(0, (band x band + cost error x cost error) x correlation + noise^2)

A fault's likelihood is the mean over its forms. ``none of these`` is a deviation of any height
that changes over a few doublings of size; ``healthy`` is no deviation.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from weft.bench import noise, student
from weft.bench.expected import Expected, Setting, expected, times_s
from weft.bench.fault import Fault, Variant, all_faults
from weft.errors import WeftError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

HEALTHY_WEIGHT: Final = 0.5
"""Before the run is looked at: a run is judged where somebody is in doubt."""
NONE_WEIGHT: Final = 0.05
"""What no file of faults/ describes. Judgement: threads close unsolved about as often."""
_UNKNOWN: Final = math.log(2)
"""Spread of a deviation that no fault describes: a factor of two either way."""
_UNKNOWN_DOUBLINGS: Final = 3.0
"""Over how many doublings of size it stays alike: one algorithm or protocol rules as many."""
FAULT_ERROR_RATIO: Final = 0.2
"""How far the cost of a fault may be from what the model says, as a share of it.

A calibrated band is of the sound system alone: without this a fault would be told from its
neighbours by the model's last per cent. Judgement: large predictions err by 10 to 20 %.
"""
_BAND: Final = 0.9
HEALTHY: Final = "healthy"
NONE: Final = "none of these"


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One explanation of a sweep, and how probable the sweep makes it."""

    name: str
    title: str
    probability: float
    form: str = ""
    """The form that fits best, as ``4 of 8 NICs``."""
    curve_s: tuple[float, ...] = ()
    """Times that it expects at the sizes of the sweep."""
    check: str = ""
    command: str = ""
    likeness: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fit:
    """What the likelihood needs of a sweep."""

    gaps: tuple[float, ...]
    """log(measured / expected) by size."""
    above: tuple[float, ...]
    below: tuple[float, ...]
    noises: tuple[float, ...]
    sizes: tuple[float, ...]
    degrees: int


def explain(setting: Setting, points: Sequence[Expected] | None = None) -> list[Candidate]:
    """Return every explanation of a sweep, the most probable first."""
    fit = _fit(setting, points or expected(setting))
    names, logs, found = [HEALTHY, NONE], [], []
    share = 1 - HEALTHY_WEIGHT - NONE_WEIGHT
    logs.append(math.log(HEALTHY_WEIGHT) + _log_likelihood(fit, [0.0] * len(fit.gaps)))
    logs.append(math.log(NONE_WEIGHT) + _log_likelihood(fit, [0.0] * len(fit.gaps), _UNKNOWN))
    found += [Candidate(name=HEALTHY, title="nothing is wrong", probability=0.0)]
    found += [Candidate(name=NONE, title="none of these", probability=0.0)]
    kept = [(n, f, seen) for n, f in all_faults() if (seen := _seen(setting, f, fit))]
    whole = sum(float(f.weight) for _, f, _ in kept)
    for name, fault, seen in kept:
        names.append(name)
        prior = math.log(share * float(fault.weight) / whole)
        logs.append(prior + _mean_log([log for _, _, log in seen]))
        found.append(_candidate(name, fault, max(seen, key=lambda one: one[2])))
    return _ranked(found, logs)


_Seen = tuple[Variant, tuple[float, ...], float]


def _ranked(found: Sequence[Candidate], logs: Sequence[float]) -> list[Candidate]:
    most = max(logs)
    shares = [math.exp(log - most) for log in logs]
    whole = sum(shares)
    ranked = [
        replace(one, probability=share / whole)
        for one, share in zip(found, shares, strict=True)
    ]
    return sorted(ranked, key=lambda one: -one.probability)


def among_faults(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the explanations that are left once it is settled that something is wrong."""
    left = [one for one in candidates if one.name != HEALTHY]
    whole = sum(one.probability for one in left) or 1.0
    return [replace(one, probability=one.probability / whole) for one in left]


def _candidate(name: str, fault: Fault, best: _Seen) -> Candidate:
    variant, curve, _ = best
    return Candidate(
        name=name, title=fault.title, probability=0.0, form=variant.label, curve_s=curve,
        check=fault.check, command=fault.command, likeness=fault.likeness,
    )  # fmt: skip


def _fit(setting: Setting, points: Sequence[Expected]) -> _Fit:
    timings = setting.sweep.timings
    wide = [student.quantile(_BAND, one.degrees) for one in points]
    return _Fit(
        gaps=tuple(
            math.log(t.time_s / p.time_s.value) for t, p in zip(timings, points, strict=True)
        ),
        above=tuple(
            max(1e-3, math.log(p.time_s.high / p.time_s.value)) / w
            for p, w in zip(points, wide, strict=True)
        ),
        below=tuple(
            max(1e-3, math.log(p.time_s.value / p.time_s.low)) / w
            for p, w in zip(points, wide, strict=True)
        ),
        noises=tuple(t.noise_ratio for t in timings),
        sizes=tuple(t.size_bytes for t in timings),
        degrees=min(one.degrees for one in points),
    )


def _seen(setting: Setting, fault: Fault, fit: _Fit) -> list[_Seen]:
    """Return the curves of a fault's forms, and how likely each makes the sweep."""
    found = []
    sound = times_s(setting, setting.cluster, {})
    for variant in fault.variants(setting):
        try:
            curve = tuple(times_s(setting, variant.cluster, variant.factors))
        except WeftError:
            continue
        shift = [math.log(f / s) for f, s in zip(curve, sound, strict=True)]
        if max(map(abs, shift)) < 1e-3:  # noqa: PLR2004 - it changes nothing here
            continue
        found.append((variant, curve, _log_likelihood(fit, shift)))
    return found


def _log_likelihood(fit: _Fit, shift: Sequence[float], unknown: float = 0.0) -> float:
    import numpy as np  # noqa: PLC0415 - it takes time to load

    left = np.array(fit.gaps) - np.array(shift)
    scales = np.where(left > 0, np.array(fit.above), np.array(fit.below))
    together = _correlation(fit.sizes)
    spread = np.outer(scales, scales) * together
    spread += np.diag(np.square(fit.noises) + 1e-8)
    cost = FAULT_ERROR_RATIO * np.abs(np.array(shift))
    spread += np.outer(cost, cost) * together
    if unknown:
        apart = np.abs(np.subtract.outer(np.log2(fit.sizes), np.log2(fit.sizes)))
        spread += unknown**2 * np.exp(-apart / _UNKNOWN_DOUBLINGS)
    return student.log_density(left, spread, fit.degrees)


def _correlation(sizes: Sequence[float]) -> "NDArray[np.float64]":
    import numpy as np  # noqa: PLC0415 - as above

    own = noise.errors()
    return np.array([[own.correlation(a, b) for b in sizes] for a in sizes])


def _mean_log(logs: Sequence[float]) -> float:
    most = max(logs)
    return most + math.log(sum(math.exp(log - most) for log in logs) / len(logs))
