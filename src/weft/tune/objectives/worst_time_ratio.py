"""Time of the traffic in the worst of all scenarios and seeds."""

from weft.tune.objective import Objective, Over

worst_time_ratio = Objective(
    title="worst time",
    meaning="time over that with the first settings, in the worst scenario and seed",
    of=lambda run, start: run.time_over(start),
    over=Over.WORST,
)
