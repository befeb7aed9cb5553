"""A year of network faults: drawn from published failure rates, with spares to hold.

Faults of a kind come independently and at a constant rate (a Poisson process), so the number
in a time is Poisson distributed. Each costs the job what ``weft whatif`` found for it. Only
faults with a published rate count: the year is a lower limit.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from math import exp
from typing import TYPE_CHECKING, Final

import numpy as np

from weft.results import Estimate

if TYPE_CHECKING:
    from weft.advise.whatif import Harm

MONTHS: Final = 12
HOURS: Final = 8766.0
"""Of a year."""
DRAWS: Final = 10_000
LEAD_WEEKS: Final = 8.0
"""From ordering a part to having it. Judgement: no figure is published."""
STOCK_RATIO: Final = 0.99
"""How often the spares shall last until the next delivery."""
_WEEKS_A_MONTH: Final = 52.18 / 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Spare:
    """How many of a part to hold."""

    title: str
    parts: int
    expected: float
    """Failures from one delivery to the next, on average."""
    held: int
    """The fewest that last with a probability of STOCK_RATIO."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Year:
    """What faults with a published rate do to a job in a year; bands are 80 % of the draws."""

    faults: Estimate
    lost_ratio: Estimate
    """Share of the year's work that they cost."""
    usd: Estimate
    spares: tuple[Spare, ...]
    draws: int
    lead_weeks: float


def year(
    harms: Iterable["Harm"], stop_s: float, *, seed: int = 0, lead_weeks: float = LEAD_WEEKS
) -> Year:
    """Draw years of the faults that have a rate; a slow step lasts a day, as in ``whatif``."""
    rated = [harm for harm in harms if harm.monthly and len(harm.faults) == 1]
    chance = np.random.default_rng(seed)
    rates = np.array([(harm.monthly or 0.0) * MONTHS for harm in rated])
    counts = chance.poisson(rates, size=(DRAWS, len(rated)))
    hours = np.array([_hours(harm, stop_s) for harm in rated])
    # What one costs differs from draw to draw with the band of its price.
    price = np.array([_drawn(harm.usd, chance) for harm in rated]).reshape(len(rated), DRAWS).T
    return Year(
        faults=_band(counts.sum(axis=1)),
        lost_ratio=_band(counts @ hours / HOURS),
        usd=_band((counts * price).sum(axis=1)),
        spares=tuple(_spare(harm, lead_weeks) for harm in rated),
        draws=DRAWS,
        lead_weeks=lead_weeks,
    )


def _hours(harm: "Harm", stop_s: float) -> float:
    if harm.slower_ratio is None:
        return stop_s / 3600
    return 24 * (1 - 1 / harm.slower_ratio)


def _drawn(usd: Estimate, chance: np.random.Generator) -> np.ndarray:
    """Draw prices from a triangle over the band."""
    if usd.high <= usd.low:
        return np.full(DRAWS, usd.value)
    return chance.triangular(usd.low, min(max(usd.value, usd.low), usd.high), usd.high, DRAWS)


def _band(drawn: np.ndarray) -> Estimate:
    if not len(drawn):
        return Estimate(0.0, 0.0, 0.0)
    low, high = np.percentile(drawn, (10, 90))
    return Estimate(float(drawn.mean()), float(low), float(high))


def _spare(harm: "Harm", lead_weeks: float) -> Spare:
    expected = (harm.monthly or 0.0) / _WEEKS_A_MONTH * lead_weeks
    return Spare(
        title=harm.title, parts=harm.parts, expected=expected,
        held=poisson_quantile(expected, STOCK_RATIO),
    )  # fmt: skip


def poisson_quantile(mean: float, probability: float) -> int:
    """Return the smallest n with P(N <= n) >= probability, for N of a Poisson distribution.

    >>> poisson_quantile(0.0, 0.99), poisson_quantile(1.0, 0.99), poisson_quantile(10.0, 0.99)
    (0, 4, 18)
    """
    if mean > _NORMAL:
        # Beyond this exp(-mean) is too small a number; the normal law is within one part.
        return int(np.ceil(mean + _Z[probability] * mean**0.5))
    term = total = exp(-mean)
    count = 0
    while total < probability:
        count += 1
        term *= mean / count
        total += term
    return count


_NORMAL: Final = 600.0
_Z: Final[dict[float, float]] = {STOCK_RATIO: 2.3263}
