"""Limits that an output prints beside its values: a range in brackets, or a value named so.

``48 [-10..75]`` is within its range. Of one thing, ``Temperature`` and ``High Temperature
Threshold`` have the same name but for words that say which limit it is.
"""

from collections.abc import Iterator, Sequence
from typing import Final

import re2

from weft.inventory.values import number

_RANGE: Final = re2.compile(
    r"^(?P<values>[-+\d.,eE ]+?) ?[A-Za-z%°]* ?[\[(](?P<low>-?\d[\d.]*) ?(?:\.\.|to) ?"
    r"(?P<high>-?\d[\d.]*)[\])]$"
)
_WORDS: Final = re2.compile(r"\b[A-Za-z]\.[A-Za-z]+|[A-Za-z]+")
_UPPER: Final = frozenset(
    ("max", "maximum", "high", "upper", "crit", "critical", "slowdown", "shutdown")
)
_LOWER: Final = frozenset(("min", "minimum", "low", "lower"))
_NEUTRAL: Final = frozenset(
    ("current", "actual", "now", "threshold", "th", "limit", "alarm", "warning", "operating",
     "value", "reading", "allowed", "rated")
)  # fmt: skip
_TEMPERATURE: Final = frozenset(("temp", "temperature"))
_OF_LINKS: Final = (
    frozenset(("link",)),
    frozenset(("speed", "width", "gen", "generation", "rate")),
)
"""What should be as high as it can be; clocks and fans need not."""
Named = Sequence[tuple[str, float]]


def out_of_range(said: str) -> bool:
    """Return whether one of some values is outside the range in brackets behind them.

    >>> out_of_range("48 [-10..75]"), out_of_range("1.2,-14.0,1.1 [-10.4..5.5]")
    (False, True)
    """
    found = _RANGE.search(said)
    if found is None:
        return False
    low, high = number(found["low"]), number(found["high"])
    values = [number(part) for part in str(found["values"]).split(",")]
    return any(
        value is not None and low is not None and high is not None and not low <= value <= high
        for value in values
    )


def beyond(values: Named) -> Iterator[tuple[str, str]]:
    """Yield values of one thing that are beyond a limit of it, each with that limit.

    >>> list(beyond([("GPU Current Temp", 91.0), ("GPU Slowdown Temp", 89.0)]))
    [('GPU Current Temp', 'GPU Slowdown Temp is 89')]
    """
    named = [(name, _words(name), value) for name, value in values]
    limits = [pair for pair in named if pair[1] & (_UPPER | _LOWER)]
    for name, words, value in named:
        if words & (_UPPER | _LOWER):
            continue
        for other, theirs, limit in limits:
            if _is_of(words, theirs) and _is_beyond(words, theirs, value, limit):
                yield name, f"{other} is {limit:.12g}"
                break


def _words(name: str) -> frozenset[str]:
    plain = name.replace("_", " ").replace("-", " ")
    words = (str(found).lower() for found in _WORDS.findall(plain))
    return frozenset("temp" if word in _TEMPERATURE else word for word in words)


def _base(words: frozenset[str]) -> frozenset[str]:
    return words - _UPPER - _LOWER - _NEUTRAL


def _is_of(words: frozenset[str], limit: frozenset[str]) -> bool:
    """Return whether a limit is of a value: both have one name, or it has none but temperature.

    Columns of a table of sensors are called High and Low.
    """
    base = _base(limit)
    return base == _base(words) if base else _base(words) == {"temp"}


def _is_beyond(words: frozenset[str], limit: frozenset[str], value: float, most: float) -> bool:
    if limit & _LOWER:
        return value < most
    if all(words & kind for kind in _OF_LINKS):
        return value < most
    return "temp" in words and value > most
