"""Largest queue of a port where nothing holds senders back."""

from weft.engines.packet.simulation import Options
from weft.engines.packet.tables import FlowControl
from weft.tune.knob import Knob, Place


def _drops(options: Options) -> bool:
    return options.flow_control is FlowControl.NONE


queue_limit_bytes = Knob(
    title="queue limit",
    place=Place.SWITCH,
    low=100_000,
    high=8_000_000,
    why="a share of a shallow buffer to all that a port of a deep one may take",
    applies=_drops,
    read=lambda options: float(options.queue_limit_bytes),
    enter=lambda settings, value: settings.with_(queue_limit_bytes=round(value)),
)
