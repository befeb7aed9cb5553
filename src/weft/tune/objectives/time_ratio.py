"""Time of the traffic, over that with the settings the search began from."""

from weft.tune.objective import Objective

time_ratio = Objective(
    title="time",
    meaning="time of the traffic over that with the first settings",
    of=lambda run, start: run.time_over(start),
)
