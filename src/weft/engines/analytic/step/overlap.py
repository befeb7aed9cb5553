"""What communication costs beside compute: how much of it stays exposed."""

from dataclasses import dataclass
from typing import Final

from weft.engines.analytic.step.constants import Software
from weft.spec.workload import Job
from weft.traffic.demand import micro_batches, spread_of

DUAL_PIPE_HIDDEN: Final = 0.9
"""Expert traffic under a schedule made to hide it [DeepSeek-V3, section 3.2.1: nearly all]."""


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
    return {"tp": _tp, "cp": _cp, "pp": _pp, "ep": _ep, "dp": _dp}[dimension](
        total_s, job, software, windows
    )


def _hidden(total_s: float, ratio: float, window_s: float) -> float:
    """Hide a share of the communication, but no more than the window holds."""
    return total_s - min(total_s * ratio, window_s * ratio)


def _tp(total_s: float, job: Job, software: Software, windows: Windows) -> float:
    ratio = software.hidden_tp if spread_of(job).overlap_tp else 0.0
    return _hidden(total_s, ratio, windows.step_s)


def _cp(total_s: float, job: Job, software: Software, windows: Windows) -> float:
    del job
    return _hidden(total_s, software.hidden_cp, windows.attention_s)


def _pp(total_s: float, job: Job, software: Software, windows: Windows) -> float:
    ratio = software.hidden_pp if spread_of(job).overlap_pp else 0.0
    return _hidden(total_s, ratio, windows.step_s)


def _ep(total_s: float, job: Job, software: Software, windows: Windows) -> float:
    spread = spread_of(job)
    ratio = software.hidden_ep if spread.overlap_ep else 0.0
    if spread.overlap_ep and spread.schedule == "zero_bubble":
        ratio = DUAL_PIPE_HIDDEN
    return _hidden(total_s, ratio, windows.step_s)


def _dp(total_s: float, job: Job, software: Software, windows: Windows) -> float:
    """Gradients hide under the last backward pass, parameters under the first forward one.

    Fully sharded parameters move with every micro-batch, so all of the step hides them.
    """
    spread = spread_of(job)
    if not spread.overlap_dp:
        return total_s
    window = windows.forward_s + windows.backward_s
    if spread.virtual_stages > 1:
        # Chunks that are done early reduce while p micro-batches pass through the others.
        chunks = spread.virtual_stages
        window *= min(spread.pp, micro_batches(job)) * (chunks - 1) / chunks
    if spread.sharding in {"zero3", "hsdp"} and spread.pp == 1:
        window *= micro_batches(job)
    return _hidden(total_s, software.hidden_dp, window)
