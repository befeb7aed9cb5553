"""Rate below which no flow is cut, as a share of the line rate."""

from weft.tune.knob import of_dcqcn

minimum_rate_ratio = of_dcqcn(
    "minimum_rate_ratio",
    title="least rate",
    low=2e-5,
    high=0.1,
    why="10 Mb/s of 400 Gb/s to a tenth of the line",
)
