"""Pipeline bubbles: how long the stages wait for one another."""

from weft.spec.workload import Parallelism

ZERO_BUBBLE_RATIO = 1 / 3
"""Bubble of ZB-H1 over that of 1F1B, at the same memory [Qi 2023, table 2]."""


def bubble_s(spread: Parallelism, forward_s: float, backward_s: float) -> float:
    """Return the time a stage idles in one step, given its times for one micro-batch.

    1F1B and GPipe: (p - 1)(f + b), so (p - 1) / m of the useful time for m micro-batches;
    interleaving over v chunks divides it by v [Narayanan 2021, section 2.2].
    """
    waits = (spread.pp - 1) * (forward_s + backward_s)
    if spread.schedule == "zero_bubble":
        return waits * ZERO_BUBBLE_RATIO
    if spread.schedule == "gpipe":
        return waits
    return waits / spread.virtual_stages
