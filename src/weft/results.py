"""What comes out: a number, how sure we are, and where it came from."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum


class Effect(StrEnum):
    """Something that an engine can see; reports name those that it cannot."""

    SERIALISATION = "serialisation"
    LATENCY = "latency"
    OVERSUBSCRIPTION = "oversubscription"
    ALGORITHM_CHOICE = "NCCL's choice of algorithm and protocol"
    OVERLAP = "overlap of communication with computation"
    PIPELINE = "pipeline bubbles"
    STRAGGLERS = "stragglers and jitter"
    FAILURES = "failures and restarts"
    COLLISIONS = "hash collisions of flows"
    QUEUEING = "queues and their tails"
    PAUSES = "priority flow control pauses"
    CONGESTION_CONTROL = "congestion control dynamics"
    LOSS = "packet loss and recovery"


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with its 80 % band: one measurement in ten lies below low, one above high."""

    value: float
    low: float
    high: float

    def map(self, function: Callable[[float], float]) -> "Estimate":
        """Apply a monotonic function to the value and to both ends.

        >>> Estimate(2.0, 1.0, 4.0).map(lambda x: 1 / x)
        Estimate(value=0.5, low=0.25, high=1.0)
        """
        ends = sorted((function(self.low), function(self.high)))
        return Estimate(function(self.value), ends[0], ends[1])

    def __float__(self) -> float:
        """Return the value alone."""
        return self.value


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """All that is needed to get the same result again."""

    weft: str
    engine: str
    models: frozenset[Effect]
    spec_sha256: str
    catalogue_sha256: str
    overlay: str | None = None
    seed: int | None = None
    sources: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()
    defaults: tuple[str, ...] = ()
    """Values of the cluster and the job that nobody gave, as key=value."""


def combine(function: Callable[..., float], *parts: Estimate) -> Estimate:
    """Carry independent bands through a function, one at a time, by root sum of squares.

    >>> total = combine(lambda a, b: a + b, Estimate(10, 7, 13), Estimate(20, 16, 24))
    >>> total.value, total.low, total.high
    (30, 25.0, 35.0)
    """
    middle = [part.value for part in parts]
    value = function(*middle)
    below = above = 0.0
    for place, part in enumerate(parts):
        ends = [
            function(*middle[:place], end, *middle[place + 1 :])
            for end in (part.low, part.high)
        ]
        below += max(0.0, value - min(ends)) ** 2
        above += max(0.0, max(ends) - value) ** 2
    return Estimate(value, value - below**0.5, value + above**0.5)
