"""What a link may still bring in above XOFF; it is taken from what queues share."""

from weft.engines.packet.simulation import Options
from weft.spec.settings import NetworkSettings
from weft.tune.knob import Knob, Place, buffer, pauses


def _has_limit(options: Options) -> bool:
    """Say whether pauses can come too late: without a limit there is always room."""
    return pauses(options) and options.headroom_bytes is not None


def _enter(settings: NetworkSettings, value: float) -> NetworkSettings:
    return buffer(settings, headroom_bytes=round(value))


headroom_bytes = Knob(
    title="headroom",
    place=Place.SWITCH,
    low=20_000,
    high=600_000,
    why="a few frames to what 800 Gb/s over 300 m takes; weft plan never goes below its sum",
    applies=_has_limit,
    read=lambda options: float(options.headroom_bytes or 0),
    enter=_enter,
)
