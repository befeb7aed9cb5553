"""Share of the time that links stand paused."""

from weft.tune.knob import any_pauses
from weft.tune.objective import Objective

paused_ratio = Objective(
    title="paused",
    meaning="share of the time that a link stands paused, mean over the links",
    of=lambda run, _start: run.paused_ratio,
    applies=any_pauses,
)
