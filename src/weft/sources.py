"""Where a number comes from, and how far it can be trusted."""

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """What stands behind a source."""

    MEASURED = "measured"
    DATASHEET = "datasheet"
    PAPER = "paper"
    CODE = "code"
    PRESS = "press"
    ESTIMATE = "estimate"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One document, measurement or file that a number was read from."""

    key: str
    kind: Kind
    title: str
    url: str = ""
    date: str = ""


@dataclass(frozen=True, slots=True)
class Sourced:
    """A number with its range, source keys and confidence (3 primary .. 1 weak).

    ``value`` is in the unit of the field's name; ``low == high == value`` means that no
    range was published, never that the number is exact.
    """

    value: float
    low: float
    high: float
    sources: tuple[str, ...]
    confidence: int

    def __float__(self) -> float:
        """Return the value, so that arithmetic reads plainly."""
        return float(self.value)


def sourced(
    value: float,
    *sources: str,
    low: float | None = None,
    high: float | None = None,
    confidence: int = 2,
) -> Sourced:
    """Make a sourced value in code (for the facts of a fabric file).

    >>> sourced(0.85, "tolly", low=0.6, high=0.92).low
    0.6
    """
    return Sourced(
        value,
        value if low is None else low,
        value if high is None else high,
        sources,
        confidence,
    )
