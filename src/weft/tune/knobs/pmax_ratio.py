"""Share of packets that are marked just below Kmax."""

from weft.tune.knob import Knob, Place, ecn, marks

pmax_ratio = Knob(
    title="Pmax",
    place=Place.SWITCH,
    low=0.01,
    high=1.0,
    why="1 % (DCQCN's paper) to every packet (Cumulus Linux)",
    applies=marks,
    read=lambda options: options.pmax_ratio,
    enter=lambda settings, value: ecn(settings, pmax_ratio=value),
)
