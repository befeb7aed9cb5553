"""Step of hyper increase, as a share of the line rate."""

from weft.tune.knob import of_dcqcn

hyper_increase_ratio = of_dcqcn(
    "hyper_increase_ratio",
    title="hyper increase",
    low=1e-4,
    high=0.3,
    why="50 Mb/s of 400 Gb/s (firmware) to a third of the line",
)
