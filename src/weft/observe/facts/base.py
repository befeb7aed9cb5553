"""What all facts share: the line they were read from, its time and writer, words of state."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Evidence:
    """The line a fact was read from.

    ``turned`` is its place among the lines in the order in which they were written, of a file
    whose newest line stands first.
    """

    file: str
    line: int
    text: str
    turned: int = field(default=0, compare=False, repr=False)

    @property
    def place(self) -> int:
        """Return what says which of two lines of one file was written first."""
        return self.turned or self.line


class Fact(Protocol):
    """Anything seen: every record with ``evidence``."""

    @property
    def evidence(self) -> Evidence:
        """Say which line it was read from."""


class Clock(StrEnum):
    """What a time counts from (YEAR: new year, where the stamp names no year).

    Times of different clocks, and BOOT times of different hosts, cannot be compared.
    """

    EPOCH = "epoch"
    BOOT = "boot"
    YEAR = "year"


@dataclass(frozen=True, slots=True)
class Moment:
    """When a line was written, as its own stamp says."""

    time_s: float
    clock: Clock = Clock.EPOCH


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """Who wrote a line: one process of a job, as far as the line says."""

    host: str = ""
    pid: int | None = None
    gpu: int | None = None
    rank: int | None = None


NOBODY = Process()


class PortState(StrEnum):
    """Logical state of a port."""

    ACTIVE = "active"
    ARMED = "armed"
    INIT = "init"
    DOWN = "down"
    UNKNOWN = "unknown"


class PhysicalState(StrEnum):
    """Physical state of a port."""

    LINK_UP = "link_up"
    POLLING = "polling"
    DISABLED = "disabled"
    SLEEP = "sleep"
    TRAINING = "training"
    ERROR_RECOVERY = "error_recovery"
    UNKNOWN = "unknown"


class LinkLayer(StrEnum):
    """What runs on an RDMA port."""

    INFINIBAND = "infiniband"
    ETHERNET = "ethernet"
    UNKNOWN = "unknown"
