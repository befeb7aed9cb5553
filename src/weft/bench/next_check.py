"""Which check tells most of the faults apart that fit a sweep.

The worth of a check is the doubt it removes: I(outcome; fault) = H(outcome) - H(outcome|fault),
in bits, with the chance MISLED that it misleads. A sweep that the model can foresee (inside one
host, another collective) has an outcome for each fault, blurred by the band of the model.
"""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from weft.bench.check import MISLED, SOUND, Check, all_checks
from weft.bench.expected import Setting, expected, times_s
from weft.bench.fault import all_faults
from weft.bench.fault_forms import Variant
from weft.bench.likelihood import FAULT_ERROR_RATIO
from weft.bench.sweep import Timing
from weft.errors import WeftError

_LARGE_BYTES: Final = 2**30
"""Of the sweep that is foreseen: where bandwidth shows."""
_SIGMAS: Final = 1.2816
"""Half of the 80 % band in spreads of a normal law."""
_STEPS: Final = 400
LEAST_GAIN_BITS: Final = 0.02
"""A check that removes less is not worth its time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NextCheck:
    """One check, what it is worth, and what it would show."""

    name: str
    title: str
    command: str
    gain_bits: float
    shows: Mapping[str, tuple[str, ...]]
    """By outcome, the faults that would show it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubt:
    """One fault that may be it."""

    name: str
    probability: float
    variant: Variant


def next_checks(
    setting: Setting, doubts: Sequence[Doubt], checked: frozenset[str]
) -> tuple[NextCheck, ...]:
    """Return the checks that would tell faults apart, that which tells most first."""
    whole = sum(doubt.probability for doubt in doubts)
    if len(doubts) < 2 or whole <= 0:  # noqa: PLR2004 - nothing to tell apart
        return ()
    shares = [replace(doubt, probability=doubt.probability / whole) for doubt in doubts]
    found = [
        check for check in _all(setting, shares, checked) if check.gain_bits >= LEAST_GAIN_BITS
    ]
    return tuple(sorted(found, key=lambda item: (-round(item.gain_bits, 6), item.name)))


def _all(
    setting: Setting, doubts: Sequence[Doubt], checked: frozenset[str]
) -> Iterator[NextCheck]:
    for name, check in all_checks():
        if name in checked:
            continue
        if check.beside is None:
            yield _looked_at(name, check, doubts)
        elif (other := check.beside(setting)) is not None and _measures(setting):
            found = _measured(name, check, other, doubts)
            if found is not None:
                yield found


def _measures(setting: Setting) -> bool:
    return setting.sweep.what == "collective"


def _looked_at(name: str, check: Check, doubts: Sequence[Doubt]) -> NextCheck:
    faults = dict(all_faults())
    shows: dict[str, list[str]] = defaultdict(list)
    share: dict[str, float] = defaultdict(float)
    for doubt in doubts:
        outcome = faults[doubt.name].shows.get(name, SOUND)
        shows[outcome].append(doubt.name)
        share[outcome] += doubt.probability
    return NextCheck(
        name=name, title=check.title, command=check.command, gain_bits=gain_bits(share),
        shows={what: tuple(names) for what, names in shows.items()},
    )  # fmt: skip


def gain_bits(shares: Mapping[str, float]) -> float:
    """Return the doubt that a check removes whose outcomes have these probabilities.

    >>> gain_bits({"": 1.0})
    0.0
    >>> gain_bits({"": 0.5, "x": 0.5}) > gain_bits({"": 0.9, "x": 0.1}) > 0
    True
    """
    count = len(shares)
    if count == 1:
        return 0.0
    wrong = MISLED / (count - 1)
    seen = [p * (1 - MISLED) + (1 - p) * wrong for p in shares.values()]
    misled = -(1 - MISLED) * math.log2(1 - MISLED) - MISLED * math.log2(wrong)
    return max(0.0, -sum(p * math.log2(p) for p in seen if p > 0) - misled)


def _measured(
    name: str, check: Check, other: Setting, doubts: Sequence[Doubt]
) -> NextCheck | None:
    timing = Timing(size_bytes=_LARGE_BYTES, time_s=1.0, noise_ratio=0.0)
    sweep = replace(other.sweep, timings=(timing,))
    setting = replace(other, sweep=sweep, baseline=None)
    try:
        (sound,) = expected(setting)
        slower = [
            math.log(
                times_s(setting, doubt.variant.cluster, doubt.variant.factors)[0]
                / sound.time_s.value
            )
            for doubt in doubts
        ]
    except WeftError:
        return None
    band = math.log(sound.time_s.high / sound.time_s.low) / 2 / _SIGMAS
    shows: dict[str, list[str]] = defaultdict(list)
    for doubt, more in zip(doubts, slower, strict=True):
        slow = more > 2 * band
        shows["slow as well" if slow else SOUND].append(doubt.name)
    return NextCheck(
        name=name, title=check.title, command=check.command,
        gain_bits=_gain_of_sweep([doubt.probability for doubt in doubts], slower, band),
        shows={what: tuple(names) for what, names in shows.items()},
    )  # fmt: skip


def _gain_of_sweep(shares: Sequence[float], means: Sequence[float], band: float) -> float:
    """Return I(deviation; fault) of a mixture of normal laws, in bits."""
    spreads = [math.hypot(band, FAULT_ERROR_RATIO * mean) for mean in means]
    low = min(m - 4 * s for m, s in zip(means, spreads, strict=True))
    high = max(m + 4 * s for m, s in zip(means, spreads, strict=True))
    width = (high - low) / _STEPS
    steps = low + (np.arange(_STEPS) + 0.5) * width
    density = sum(
        p / (s * math.sqrt(2 * math.pi)) * np.exp(-(((steps - m) / s) ** 2) / 2)
        for p, m, s in zip(shares, means, spreads, strict=True)
    )
    both = -float(np.sum(density * np.log2(np.maximum(density, 1e-300)))) * width
    own = sum(
        p * math.log2(s * math.sqrt(2 * math.pi * math.e))
        for p, s in zip(shares, spreads, strict=True)
    )
    return max(0.0, both - own)
