"""The collectives that ranks began, waited for and gave up."""

from dataclasses import dataclass

from weft.observe.facts.base import NOBODY, Evidence, Moment, Process


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectiveCall:
    """A collective a rank began or reached; ``sequence`` counts them in a communicator.

    ``communicator`` may be an address, which each process has its own; ``ranks`` is its size.
    """

    operation: str
    sequence: int
    elements: int | None = None
    datatype: str = ""
    communicator: str = ""
    ranks: int | None = None
    state: str = ""
    shape: str = ""
    group: str = ""
    stack: str = ""
    moment: Moment | None = None
    process: Process = NOBODY
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectiveTimeout:
    """The watch over collectives gave one up."""

    operation: str
    sequence: int | None = None
    elements_in: int | None = None
    elements_out: int | None = None
    timeout_s: float | None = None
    ran_s: float | None = None
    group: str = ""
    moment: Moment | None = None
    process: Process = NOBODY
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkProgress:
    """How far a rank had got in its row of collectives."""

    last_enqueued: int | None = None
    last_started: int | None = None
    last_completed: int | None = None
    process: Process = NOBODY
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class RankCall:
    """What one rank was running."""

    rank: int
    operation: str
    shape: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectiveMismatch:
    """Ranks ran different collectives at the same place."""

    calls: tuple[RankCall, ...] = ()
    evidence: Evidence
