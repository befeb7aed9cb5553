"""How far above Kmin every packet is marked."""

from weft.spec.settings import NetworkSettings
from weft.tune.knob import Knob, Place, ecn, marks


def _enter(settings: NetworkSettings, value: float) -> NetworkSettings:
    return ecn(settings, kmax_bytes=round(value * (settings.ecn.kmin_bytes or 0)))


kmax_over_kmin_ratio = Knob(
    title="Kmax over Kmin",
    place=Place.SWITCH,
    low=1.5,
    high=20.0,
    why="published pairs lie at 4 (HPCC) to 40 (DCQCN); stock profiles at 2",
    applies=marks,
    read=lambda options: options.kmax_bytes / options.kmin_bytes,
    enter=_enter,
    relative=True,
)
