"""The law of a time where the library's choice is not certain: a mixture over its options.

::

    P(option) ~ (NCCL's own time of it / that of its choice) ^ -trust
    log t | option ~ Normal(log of its predicted time, s)

Where nothing states whether NVLS runs, a share of systems has it off: there the options that
need it are left out. What a specification states removes its options from the mixture.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import erf, exp, inf, log, pi, sqrt
from statistics import NormalDist
from typing import Final

from weft.engines.analytic.collective.choice import Option, nccl_time_s, options
from weft.engines.analytic.collective.path import Path
from weft.traffic.collective import Operation

NVLS: Final = frozenset({"nvls", "nvls_tree"})
_STATES_NVLS: Final = ("NCCL_NVLS_ENABLE", "NCCL_ALGO")
_LEAST: Final = 0.02
"""Options less likely than this are left out."""
_STEPS: Final = 40
_EQUAL: Final = 1e-9
_ROOT_2: Final = sqrt(2.0)
_ROOT_PI: Final = sqrt(pi)
_NORMAL: Final = NormalDist()


@dataclass(frozen=True, slots=True)
class Part:
    """One option of the library, and how likely it runs."""

    weight: float
    option: Option


def parts(
    path: Path, operation: Operation, size_bytes: float, *, trust: float, nvls_off: float
) -> tuple[Part, ...]:
    """Return the options that may run, the most likely first; their weights add up to 1."""
    able = options(path, operation)
    times = [nccl_time_s(path, option, size_bytes) for option in able]
    weights = _choice(times, trust)
    plain = [option.kind.name not in NVLS for option in able]
    if nvls_off and not nvls_stated(path.env) and any(plain) and not all(plain):
        off = _choice([t if p else inf for t, p in zip(times, plain, strict=True)], trust)
        weights = [
            (1 - nvls_off) * on + nvls_off * w for on, w in zip(weights, off, strict=True)
        ]
    likely = [Part(w, o) for w, o in zip(weights, able, strict=True) if w >= _LEAST]
    total = sum(part.weight for part in likely)
    ordered = sorted(likely, key=lambda part: -part.weight)
    return tuple(Part(part.weight / total, part.option) for part in ordered)


def nvls_stated(env: Mapping[str, str]) -> bool:
    """Whether variables settle that NVLS runs or not."""
    return any(name in env for name in _STATES_NVLS)


def _choice(times: Sequence[float], trust: float) -> list[float]:
    least = min(times)
    if trust == inf or least <= 0:
        first = times.index(least)
        return [float(i == first) for i in range(len(times))]
    raw = [exp(-trust * log(t / least)) if t < inf else 0.0 for t in times]
    total = sum(raw)
    return [w / total for w in raw]


@dataclass(frozen=True, slots=True)
class Law:
    """A mixture of log-normal times of one spread."""

    weights: tuple[float, ...]
    logs: tuple[float, ...]
    sigma: float

    def quantile(self, level: float) -> float:
        """Return the time, in seconds, below which a share of ``level`` lies."""
        return _quantile(self, level)


@lru_cache(maxsize=65536)
def _quantile(law: Law, level: float) -> float:
    """Solve for a quantile by Newton's method, halving where a step leaves the bracket."""
    reach = law.sigma * _NORMAL.inv_cdf(level)
    low, high = min(law.logs) + reach, max(law.logs) + reach
    if high - low < _EQUAL:
        return exp(high)
    found = law.logs[0] + reach
    for _ in range(_STEPS):
        over, slope = _excess(law, level, found)
        low, high = (low, found) if over > 0 else (found, high)
        step = over / slope if slope > 0 else inf
        found, last = found - step, found
        if not low <= found <= high:
            found = (low + high) / 2
        if abs(found - last) < _EQUAL:
            break
    return exp(found)


def _excess(law: Law, level: float, at: float) -> tuple[float, float]:
    """Return the probability of less than exp(at) over the level, and its slope."""
    wide, below, slope = law.sigma * _ROOT_2, 0.5 - level, 0.0
    for weight, middle in zip(law.weights, law.logs, strict=True):
        z = (at - middle) / wide
        below += 0.5 * weight * erf(z)
        slope += weight * exp(-z * z)
    return below, slope / (wide * _ROOT_PI)
