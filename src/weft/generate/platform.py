"""What SONiC's platform files say of a switch: cages, breakouts, what its MMU keeps back."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

from weft.network.headroom import KIB
from weft.records import records

PIPELINE_BYTES: Final = 19 * KIB
"""What a priority group takes for the pipeline, on ports of fewer than 8 lanes.

Spectrum-1 to -5: sonic-buildimage, platform/mellanox/asic_table.j2. [sonic_pool]
"""
PIPELINE_8_LANES_BYTES: Final = 2 * PIPELINE_BYTES - KIB
MIRROR_BYTES: Final = 10 * KIB
"""Of every port that is up, for mirrors at egress. [sonic_pool]"""
MANAGEMENT_BYTES: Final = 256 * KIB
"""Pool of the management traffic. [sonic_pool]"""
EGRESS_BYTES: Final = 9216
"""Reserved by the lossy profile of every port at egress. [sonic_qos]"""
WIDE: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Breakout:
    """One way to split every cage of a switch."""

    hwsku: str
    mode: str
    """As platform.json spells it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Platform:
    """One switch, as SONiC's platform files have it."""

    platform: str
    cages: int
    lanes: int
    """Of one cage."""
    stride: int
    """From the first lane of a cage to that of the next."""
    breakouts: Mapping[int, Breakout]
    """By Gb/s of a port."""
    mmu_bytes: int

    def split(self, gbit_per_s: int) -> int:
        """Return the ports of one cage at a rate."""
        return int(self.breakouts[gbit_per_s].mode.partition("x")[0])


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """One part of the MMU that is not shared."""

    what: str
    count: int
    each_bytes: int

    @property
    def bytes(self) -> int:
        """All of them together."""
        return self.count * self.each_bytes


@cache
def platforms() -> dict[str, Platform]:
    """Return the platforms by the switch's name in the catalogue."""
    return records("weft.generate", "platforms", Platform)


def lanes_of(switch: str, ports: int) -> int:
    """Return the lanes of one of so many ports of a switch; 0 where nobody knows."""
    held = platforms().get(switch)
    return held.cages * held.lanes // ports if held else 0


def group_reserve(lanes: int) -> tuple[int, int]:
    """Return XON of a lossless group, and what is reserved beside XON and headroom.

    19 KiB of the pipeline; a port of 8 lanes has twice that, and a frame
    (buffer_headroom_mellanox.lua; the tables of SN4700 and SN5600 agree). [sonic_headroom]
    """
    return (2 * PIPELINE_BYTES, EGRESS_BYTES) if lanes == WIDE else (PIPELINE_BYTES, 0)


def kept_back(ports: int, lanes: int) -> tuple[Kept, ...]:
    """Return what is taken from an MMU before ports share the rest.

    ``lanes`` is of one port; lossless priority groups come on top. As buffer_pool_mellanox.lua
    adds it up [sonic_pool], with one lossy and one lossless group a port, every port up, and
    no headroom shared.
    """
    pipeline = PIPELINE_8_LANES_BYTES if lanes == WIDE else PIPELINE_BYTES
    return (
        Kept(what="lossy groups", count=ports, each_bytes=pipeline),
        Kept(what="control groups", count=ports, each_bytes=pipeline),
        Kept(what="mirrors at egress", count=ports, each_bytes=MIRROR_BYTES),
        Kept(what="lossy profiles at egress", count=ports, each_bytes=EGRESS_BYTES),
        Kept(what="management", count=1, each_bytes=MANAGEMENT_BYTES),
    )
