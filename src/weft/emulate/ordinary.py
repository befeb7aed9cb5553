"""What happens on a healthy cluster, as rows: checkpoints, jobs that end, rare errors."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

from weft.inventory.table import rows

_APART_S: Final = 97
"""Between the events of one host and the next, where they are not events of the job."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that comes back every so often, and what it changes while it lasts."""

    event: str
    at: str
    """``every port`` or ``gpu``: at once; ``one port`` or ``gpu``: of each host in turn."""
    every_s: float
    for_s: float
    first_s: float
    """When it happens first."""
    stops: tuple[str, ...] = ()
    """Counters that stand still; no two events stop one counter at the same time."""
    grows: Mapping[str, float] = field(default_factory=dict)
    """Counters that grow by so much a second."""
    sets: Mapping[str, Any] = field(default_factory=dict)

    def is_at(self, kind: str, host: int, number: int, parts: int) -> bool:
        """Return whether it happens to a port or GPU, by the numbers of host and part."""
        which, _, where = self.at.partition(" ")
        return where == kind and (which == "every" or number == host % parts)

    def _rounds(self, host: int, now_s: float) -> tuple[float, float]:
        """Return how often it has happened, and the time since it began last."""
        later_s = 0 if self.at.startswith("every") else _APART_S * host % self.every_s
        return divmod(now_s - self.first_s - later_s, self.every_s)

    def lasts(self, host: int, now_s: float) -> bool:
        """Return whether it is happening."""
        rounds, into_s = self._rounds(host, now_s)
        return rounds >= 0 and into_s < self.for_s

    def lasted_s(self, host: int, now_s: float) -> float:
        """Return for how long it has happened in all.

        >>> often = Event(event="dump", at="every port", every_s=60, for_s=5.0, first_s=60)
        >>> often.lasted_s(0, 122)
        7.0
        """
        rounds, into_s = self._rounds(host, now_s)
        return rounds * self.for_s + min(self.for_s, into_s) if rounds >= 0 else 0.0


@cache
def ordinary() -> tuple[Event, ...]:
    """Return every row of the table."""
    return tuple(_event(row) for row in rows("weft.emulate", "ordinary.yaml"))


def _event(row: Mapping[str, Any]) -> Event:
    told = {"first_s": row["every_s"], **row}
    return Event(**{**told, "stops": tuple(row.get("stops", ()))})


def at_part(
    events: tuple[Event, ...], kind: str, host: int, number: int, parts: int
) -> Iterator[Event]:
    """Yield the events that happen to a part of a host."""
    return (one for one in events if one.is_at(kind, host, number, parts))
