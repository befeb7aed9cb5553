"""Raises of fast recovery before the rate is probed upwards."""

from weft.tune.knob import Scale, of_dcqcn

fast_recovery_stages = of_dcqcn(
    "fast_recovery_stages",
    title="fast recovery stages",
    low=1,
    high=10,
    why="DCQCN's paper has 5",
    scale=Scale.WHOLE,
)
