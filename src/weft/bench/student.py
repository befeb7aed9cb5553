"""Student's law: as wide as a normal one whose spread is known from few systems only."""

import math
from functools import lru_cache
from typing import Final

_HALF: Final = 0.5
_WIDEST: Final = 1e4
_STEPS: Final = 80
_TERMS: Final = 200
_CLOSE: Final = 1e-12


def cumulative(value: float, degrees: float) -> float:
    """Return the share of the law below a value.

    >>> round(cumulative(0.0, 5), 3), round(cumulative(2.015, 5), 3)
    (0.5, 0.95)
    """
    tail = _beta(degrees / (degrees + value * value), degrees / 2, _HALF) / 2
    return tail if value < 0 else 1 - tail


@lru_cache(maxsize=512)
def quantile(share: float, degrees: float) -> float:
    """Return the value below which a share of the law lies.

    >>> round(quantile(0.9, 11), 3)
    1.363
    """
    low, high = -_WIDEST, _WIDEST
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if cumulative(middle, degrees) < share else (low, middle)
    return (low + high) / 2


def _beta(x: float, a: float, b: float) -> float:
    """Return the regularised incomplete beta function by its continued fraction (Lentz)."""
    if x <= 0 or x >= 1:
        return max(0.0, min(1.0, x))
    if x > (a + 1) / (a + b + 2):
        return 1 - _beta(1 - x, b, a)
    front = math.exp(
        math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
        + a * math.log(x) + b * math.log1p(-x)
    ) / a  # fmt: skip
    c, d = 1.0, 1 / _off_zero(1 - (a + b) * x / (a + 1))
    found = d
    for m in range(1, _TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1 / _off_zero(1 + term * d)
            c = _off_zero(1 + term / c)
            found *= c * d
        if abs(c * d - 1) < _CLOSE:
            break
    return front * found


def _off_zero(value: float) -> float:
    return value if abs(value) > _CLOSE * _CLOSE else _CLOSE * _CLOSE
