"""Queue at which switches begin to mark."""

from weft.spec.settings import NetworkSettings
from weft.tune.knob import Knob, Place, ecn, marks


def _kmax(settings: NetworkSettings) -> int:
    """Return Kmax as it is; a Kmin above it takes it along."""
    return settings.ecn.kmax_bytes or 0


kmin_bytes = Knob(
    title="Kmin",
    place=Place.SWITCH,
    low=20_000,
    high=4_000_000,
    why="from DCQCN's 5 kB at 40 Gb/s, scaled, to what stock profiles have (1 MiB) and beyond",
    applies=marks,
    read=lambda options: float(options.kmin_bytes),
    enter=lambda settings, value: ecn(
        settings, kmin_bytes=round(value), kmax_bytes=max(round(value), _kmax(settings))
    ),
)
