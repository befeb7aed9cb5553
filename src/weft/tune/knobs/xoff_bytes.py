"""What a switch holds of a link's data before it pauses the link."""

from weft.spec.settings import NetworkSettings
from weft.tune.knob import Knob, Place, pauses, pfc


def _enter(settings: NetworkSettings, value: float) -> NetworkSettings:
    """Set XOFF; XON stays below it by the same ratio."""
    before, xon = settings.pfc.xoff_bytes or 1, settings.pfc.xon_bytes or 0
    return pfc(settings, xoff_bytes=round(value), xon_bytes=max(1, round(xon * value / before)))


xoff_bytes = Knob(
    title="XOFF",
    place=Place.SWITCH,
    low=40_000,
    high=4_000_000,
    why="a few frames, as misread profiles have it, to what one port of a deep pool may take",
    applies=pauses,
    read=lambda options: float(options.xoff_bytes),
    enter=_enter,
)
