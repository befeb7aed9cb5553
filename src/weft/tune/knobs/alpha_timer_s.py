"""Time after which alpha fades without a notification."""

from weft.tune.knob import of_dcqcn

alpha_timer_s = of_dcqcn(
    "alpha_timer_ps",
    title="alpha timer",
    low=5e-6,
    high=500e-6,
    why="a tenth to ten times the 55 us of DCQCN's paper",
)
