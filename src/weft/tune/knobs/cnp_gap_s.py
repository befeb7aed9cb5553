"""Least time between two congestion notifications of one flow."""

from weft.engines.packet.simulation import PS_PER_S
from weft.tune.knob import Knob, Place, runs_dcqcn

cnp_gap_s = Knob(
    title="time between CNPs",
    place=Place.NIC,
    low=2e-6,
    high=200e-6,
    why="2 us (firmware) to four times the 50 us of DCQCN's paper",
    applies=runs_dcqcn,
    read=lambda options: options.cnp_gap_ps / PS_PER_S,
    enter=lambda settings, value: settings.with_(cnp_gap_s=value),
)
