"""Slowdown of the slowest flow in a hundred."""

from weft.tune.objective import Objective

tail_ratio = Objective(
    title="tail",
    meaning="time of the 99th of 100 flows over its time alone",
    of=lambda run, _start: run.tail_ratio,
)
