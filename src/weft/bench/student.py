"""Student's law: as wide as a normal one whose spread is known from few systems only."""

import math
from functools import lru_cache
from typing import Final

_WIDEST: Final = 1e4
_STEPS: Final = 80


def cumulative(value: float, degrees: int) -> float:
    """Return the share of the law below a value [Abramowitz & Stegun 1972, 26.7.3, 26.7.4].

    >>> round(cumulative(0.0, 5), 3), round(cumulative(2.015, 5), 3)
    (0.5, 0.95)
    """
    angle, odd = math.atan2(value, math.sqrt(degrees)), degrees % 2
    series, term = 0.0, math.cos(angle) ** odd
    for place in range(2 + odd, degrees + 1, 2):
        series += term
        term *= math.cos(angle) ** 2 * (place - 1) / place
    inside = math.sin(angle) * series
    return 0.5 + ((angle + inside) / math.pi if odd else inside / 2)


@lru_cache(maxsize=512)
def quantile(share: float, degrees: int) -> float:
    """Return the value below which a share of the law lies.

    >>> round(quantile(0.9, 11), 3)
    1.363
    """
    low, high = -_WIDEST, _WIDEST
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if cumulative(middle, degrees) < share else (low, middle)
    return (low + high) / 2
