"""How far a paused link's data must drain before it goes on."""

from weft.spec.settings import NetworkSettings
from weft.tune.knob import Knob, Place, Scale, pauses, pfc


def _enter(settings: NetworkSettings, value: float) -> NetworkSettings:
    return pfc(settings, xon_bytes=max(1, round(value * (settings.pfc.xoff_bytes or 0))))


xon_over_xoff_ratio = Knob(
    title="XON over XOFF",
    place=Place.SWITCH,
    low=0.2,
    high=0.98,
    scale=Scale.LINEAR,
    why="far below, which drains the queue, to a frame or two below, which pauses often",
    applies=pauses,
    read=lambda options: options.xon_bytes / options.xoff_bytes,
    enter=_enter,
    relative=True,
)
