"""Step of additive increase, as a share of the line rate."""

from weft.tune.knob import of_dcqcn

additive_increase_ratio = of_dcqcn(
    "additive_increase_ratio",
    title="additive increase",
    low=1e-5,
    high=0.1,
    why="5 Mb/s of 400 Gb/s (firmware) to a tenth of the line",
)
