"""How many bytes still arrive after a switch has asked for silence, and room for them."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil
from typing import Final

from weft import units
from weft.catalogue.devices import Switch

LIGHT_M_PER_S: Final = 198e6
"""Speed of a signal in fibre, as SONiC's model takes it. [sonic_headroom]"""
QUANTUM_BYTES: Final = 64
"""One quantum of PFC: 512 bits. [IEEE 802.3, annex 31B]"""
QUANTA: Final[Mapping[int, int]] = {
    10: 67, 25: 80, 40: 118, 50: 147, 100: 394, 200: 453, 400: 905, 800: 905,
}  # fmt: skip
"""Quanta until a peer falls silent, by Gb/s. [sonic_headroom]"""
MAC_BYTES: Final = 819
"""MAC and PHY: 0.8 KiB. [sonic_headroom]"""
TILE_BYTES_PER_GBIT: Final = 15
"""Between the tiles of Spectrum-4 and -5, by Gb/s. [sonic_headroom]"""
SMALL_RATIO: Final = 64 / 544
"""Share of packets of 64 bytes where half are, the rest being of 1 KiB. [sonic_headroom]"""
CELL_BYTES: Final[Mapping[str, int]] = {
    "Spectrum-2": 144, "Spectrum-3": 144, "Spectrum-4": 192, "Spectrum-5": 192,
    "Spectrum-6": 256,
}  # fmt: skip
"""Buffer is given in cells, by chip. [sonic_headroom]"""
LARGEST_CELL_BYTES: Final = 256
ACCOUNTING_BYTES: Final[Mapping[str, int]] = {"Spectrum-6": 18 << 10}
"""What the chip's accounting of its packet buffer takes besides. [sonic_headroom]"""
TILED: Final = frozenset({"Spectrum-4", "Spectrum-5"})
CABLES_M: Final = (5, 40, 300, 1000, 2000)
"""Lengths that tables of headroom are published for. [sonic_qos]"""
KIB: Final = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Headroom:
    """Headroom of one priority of one port: each part of the sum, and what is published."""

    cable_m: float
    cable_bytes: int
    """On the cable, there and back."""
    frames_bytes: int
    """A frame that delays the pause here, and one that the peer has begun."""
    response_bytes: int
    """What the peer sends until it obeys."""
    interface_bytes: int
    """Inside MAC, PHY and chip."""
    occupancy: float
    """Cells that small packets do not fill."""
    accounting_bytes: int
    """What the chip's accounting takes besides."""
    published_bytes: int | None
    """Of this switch, at this rate and the next longer cable of the table."""

    @property
    def arithmetic_bytes(self) -> int:
        """The sum, in whole KiB."""
        parts = (
            self.cable_bytes + self.frames_bytes + self.response_bytes + self.interface_bytes
        )
        return ceil(parts * self.occupancy / KIB) * KIB + self.accounting_bytes

    @property
    def headroom_bytes(self) -> int:
        """What to configure: the larger of the sum and the published figure."""
        return max(self.arithmetic_bytes, self.published_bytes or 0)

    @property
    def shown(self) -> str:
        """The arithmetic, as a reader would check it."""
        own = self.accounting_bytes
        besides = f" + {own} B of the chip's accounting" if own else ""
        parts = (
            f"({self.cable_bytes} B on {self.cable_m:g} m there and back + "
            f"{self.frames_bytes} B of frames begun + {self.response_bytes} B until the peer "
            f"obeys + {self.interface_bytes} B in the interface) x {self.occupancy:.3f} of "
            f"cells half filled{besides} = "
            f"{self.arithmetic_bytes} B"
        )
        if self.published_bytes is None:
            return f"{parts}; the catalogue has no table of this switch to compare with"
        which = "table" if self.published_bytes > self.arithmetic_bytes else "arithmetic"
        return f"{parts}; the switch's table says {self.published_bytes} B; the {which} holds"


def headroom(
    switch: Switch, link_bytes_per_s: float, cable_m: float, mtu_bytes: int
) -> Headroom:
    """Return the headroom of a port; never less than the arithmetic."""
    gbit = units.gbit_from_rate(link_bytes_per_s)
    name = chip(switch)
    cell = CELL_BYTES.get(name, LARGEST_CELL_BYTES)
    tile = ceil(TILE_BYTES_PER_GBIT * gbit) if name in TILED else 0
    return Headroom(
        cable_m=cable_m,
        cable_bytes=ceil(2 * cable_m / LIGHT_M_PER_S * link_bytes_per_s),
        frames_bytes=2 * mtu_bytes,
        response_bytes=ceil(_quanta(gbit) * QUANTUM_BYTES),
        interface_bytes=MAC_BYTES + tile,
        occupancy=1 + SMALL_RATIO * (ceil(cell / QUANTUM_BYTES) - 1),
        accounting_bytes=ACCOUNTING_BYTES.get(name, 0),
        published_bytes=_published(switch, link_bytes_per_s, cable_m),
    )


def chip(switch: Switch) -> str:
    """Return the chip of a switch, as far as the catalogue knows it."""
    _, _, after = switch.note.partition("ASIC ")
    return after.partition(";")[0].strip()


def cable_class_m(cable_m: float) -> int:
    """Return the next of the lengths that tables know.

    >>> cable_class_m(30), cable_class_m(5)
    (40, 5)
    """
    return next((name for name in CABLES_M if name >= cable_m), ceil(cable_m))


def _quanta(gbit: float) -> float:
    """Return the quanta of the next faster rate; above the table they grow with the rate."""
    fastest = max(QUANTA)
    faster = [rate for rate in QUANTA if rate >= gbit]
    return QUANTA[min(faster)] if faster else QUANTA[fastest] * gbit / fastest


def _published(switch: Switch, rate_bytes_per_s: float, cable_m: float) -> int | None:
    for rate, by_length in switch.headroom_bytes.items():
        if units.parse_rate(rate) == rate_bytes_per_s:
            lengths = {units.parse_length(text): size for text, size in by_length.items()}
            longer = [length for length in lengths if length >= cable_m]
            return int(lengths[min(longer)]) if longer else None
    return None
