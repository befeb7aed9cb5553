"""Operating systems of switches: the rows of ``switch_systems.toml``."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

from weft.records import records

TERMS: Final = frozenset({"pool", "alpha"})
"""What decides where a port pauses; a claim about it needs all of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchdogDefaults:
    """When a system takes a paused queue for a storm, and when it gives it back."""

    poll_ms: int
    polls: int
    """In a row, that find the queue stuck."""
    restore_polls: int
    source: str
    why: str
    ports: int = 0
    """Ports for which the interval is that of one step; 0: of all."""
    most_poll_ms: int = 0
    """0: no limit."""

    def step(self, ports: int) -> int:
        """Return by how much the interval grows on a switch of so many ports."""
        return 1 + (ports - 1) // self.ports if self.ports else 1


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkingDefaults:
    """How steeply a system's own examples mark."""

    kmax_ratio: int
    """Kmax over Kmin."""
    pmax_ratio: float
    source: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchSystem:
    """One operating system of switches."""

    name: str
    title: str
    vendor: str
    watchdog: WatchdogDefaults
    marking: MarkingDefaults
    sets: frozenset[str]
    """Terms of the pause threshold that weft writes."""
    leaves: str

    @property
    def has_claim(self) -> bool:
        """Whether weft writes all that decides where a port pauses."""
        return self.sets >= TERMS


@cache
def switch_systems() -> Mapping[str, SwitchSystem]:
    """Return the systems by name."""
    return records("weft.generate", "switch_systems", SwitchSystem)


def system_of(vendor: str) -> SwitchSystem:
    """Return the system that switches of a vendor run; SONiC where no row names the vendor."""
    systems = switch_systems()
    named = (system for system in systems.values() if vendor and system.vendor == vendor)
    return next(named, systems["sonic"])
