"""Bytes between two raises of the rate."""

from weft.tune.knob import of_dcqcn

byte_counter_bytes = of_dcqcn(
    "byte_counter_bytes",
    title="byte counter",
    low=200_000,
    high=100_000_000,
    why="2 MB (firmware) and 10 MB (paper), a decade to either side",
)
