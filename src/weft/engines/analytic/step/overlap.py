"""What a GPU waits for: communication that compute does not hide, and other stages."""

from dataclasses import dataclass
from typing import Final

from weft.engines.analytic.step.constants import Software
from weft.spec.workload import Job, Parallelism
from weft.traffic.demand import micro_batches, spread_of

DUAL_PIPE_HIDDEN: Final = 0.9
"""Expert traffic under a schedule made to hide it [DeepSeek-V3, section 3.2.1: nearly all]."""

ZERO_BUBBLE_RATIO: Final = 1 / 3
"""Bubble of ZB-H1 over that of 1F1B, at the same memory [Qi 2023, table 2]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Windows:
    """Compute time of one step under which communication can hide, in seconds."""

    forward_s: float
    """Of one micro-batch on one stage."""
    backward_s: float
    attention_s: float
    """Attention of the whole step: what context parallelism hides under."""
    step_s: float
    """All compute of the step on one GPU."""


def exposed_s(
    dimension: str, total_s: float, job: Job, software: Software, windows: Windows
) -> float:
    """Return the part of one dimension's communication that the GPU waits for."""
    spread = spread_of(job)
    if dimension != "cp" and not getattr(spread, f"overlap_{dimension}"):
        return total_s
    ratio: float = getattr(software, f"hidden_{dimension}")
    if dimension == "ep" and spread.schedule == "zero_bubble":
        ratio = DUAL_PIPE_HIDDEN
    under_s = {"cp": windows.attention_s, "dp": _data_window_s(job, windows)}
    # A share of the communication is hidden, but no more than the window holds.
    return total_s - min(total_s * ratio, under_s.get(dimension, windows.step_s) * ratio)


def _data_window_s(job: Job, windows: Windows) -> float:
    """Gradients hide under the last backward pass, parameters under the first forward one.

    Fully sharded parameters move with every micro-batch, so all of the step hides them.
    """
    spread = spread_of(job)
    window = windows.forward_s + windows.backward_s
    if spread.virtual_stages > 1:
        # Chunks that are done early reduce while p micro-batches pass through the others.
        chunks = spread.virtual_stages
        window *= min(spread.pp, micro_batches(job)) * (chunks - 1) / chunks
    if spread.sharding in {"zero3", "hsdp"} and spread.pp == 1:
        window *= micro_batches(job)
    return window


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
