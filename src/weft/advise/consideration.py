"""What a consideration is: something to weigh beside the cost of a token."""

from collections.abc import Callable
from dataclasses import dataclass

from weft.advise.case import Case

MATTERS = 0.01
"""What moves speed or the cost of a token by less than one per cent favours nobody."""


@dataclass(frozen=True, slots=True)
class Number:
    """One figure of a piece of advice, exact; its text is rounded."""

    label: str
    value: float
    unit: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Opinion:
    """Which candidates a consideration favours, and why; none where it makes no odds."""

    favours: tuple[str, ...]
    reason: str
    numbers: tuple[Number, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Consideration:
    """One thing to weigh."""

    title: str
    weigh: Callable[[Case], Opinion]
    source: str
    evidence: str = "computed by the analytic engine"
    breaks_ties: bool = True
    """Whether it counts where money cannot tell; what is money itself does not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighed:
    """A consideration with its opinion on this case."""

    consideration: str
    title: str
    favours: tuple[str, ...]
    reason: str
    numbers: tuple[Number, ...]
    source: str
    evidence: str
    breaks_ties: bool
