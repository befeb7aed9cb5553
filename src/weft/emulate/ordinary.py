"""What happens on a healthy cluster, as rows: checkpoints, jobs that end, rare errors."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from weft.inventory.table import rows

if TYPE_CHECKING:
    from weft.emulate.state import Host, Part

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
    first_s: float | None = None
    """When it happens first; none: after ``every_s``."""
    stops: Sequence[str] = ()
    """Counters that stand still; no two events stop one counter at the same time."""
    grows: Mapping[str, float] = field(default_factory=dict)
    """Counters that grow by so much a second."""
    sets: Mapping[str, Any] = field(default_factory=dict)
    kernel: Sequence[str] = ()
    """Lines of dmesg, of each host where it has happened; fields as those of faults."""
    log: Sequence[str] = ()
    """Lines of the log of the job."""

    def is_at(self, kind: str, host: int, number: int, parts: int) -> bool:
        """Return whether it happens to a port or GPU, by the numbers of host and part."""
        which, _, where = self.at.partition(" ")
        return where == kind and (which == "every" or number == host % parts)

    def _rounds(self, host: int, now_s: float) -> tuple[float, float]:
        """Return how often it has happened, and the time since it began last."""
        later_s = 0 if self.at.startswith("every") else _APART_S * host % self.every_s
        first_s = self.every_s if self.first_s is None else self.first_s
        return divmod(now_s - first_s - later_s, self.every_s)

    def lasts(self, host: int, now_s: float) -> bool:
        """Return whether it is happening."""
        rounds, into_s = self._rounds(host, now_s)
        return rounds >= 0 and into_s < self.for_s

    def lasted_s(self, host: int, now_s: float) -> float:
        """Return for how long it has happened in all.

        >>> often = Event(event="queue", at="every port", every_s=60, for_s=5.0, first_s=60)
        >>> often.lasted_s(0, 122)
        7.0
        """
        rounds, into_s = self._rounds(host, now_s)
        return rounds * self.for_s + min(self.for_s, into_s) if rounds >= 0 else 0.0


@cache
def ordinary() -> tuple[Event, ...]:
    """Return every row of the table."""
    return tuple(Event(**row) for row in rows("weft.emulate", "ordinary.yaml"))


def counted(
    events: tuple[Event, ...],
    host: "Host",
    part: "Part",
    path: str,
    *,
    since_s: float,
    at_s: float,
) -> int:
    """Return a counter some time after ``since_s``: it grows, stands still and jumps.

    Faults of the part began at ``since_s``; the events go on as they did before.
    """
    kind, parts = ("gpu", host.gpus) if path.startswith("gpu.") else ("port", host.rails)
    still_s = more = 0.0
    for event in at_part(events, kind, host.number, part.number, len(parts)):
        if path in event.stops or path in event.grows:
            now_s, then_s = (
                event.lasted_s(host.number, at) for at in (since_s + at_s, since_s)
            )
            still_s += (now_s - then_s) * (path in event.stops)
            more += now_s * event.grows.get(path, 0.0)
    return int(part.count(path, at_s - still_s) + more)


def at_part(
    events: tuple[Event, ...], kind: str, host: int, number: int, parts: int
) -> Iterator[Event]:
    """Yield the events that happen to a part of a host."""
    return (event for event in events if event.is_at(kind, host, number, parts))
