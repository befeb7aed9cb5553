"""Time between two raises of the rate."""

from weft.tune.knob import of_dcqcn

rate_timer_s = of_dcqcn(
    "rate_timer_ps",
    title="rate timer",
    low=5e-6,
    high=1.5e-3,
    why="5 us to the 1.5 ms of the first DCQCN drafts; stock NICs have 300 us",
)
