"""Share of the free part of a shared buffer that one queue may take."""

from weft.tune.knob import Knob, Place, Scale, buffer, shares_buffer

buffer_alpha_ratio = Knob(
    title="buffer alpha",
    place=Place.SWITCH,
    low=2.0**-6,
    high=2.0**3,
    scale=Scale.DOUBLING,
    why="switches take powers of two, in SONiC dynamic_th -6 to 3",
    applies=shares_buffer,
    read=lambda options: options.alpha_ratio,
    enter=lambda settings, value: buffer(settings, alpha_ratio=value),
)
