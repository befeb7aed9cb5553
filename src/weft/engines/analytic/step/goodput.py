"""Goodput: what failures, checkpoints and restarts leave of the wall time.

With stops every M seconds, checkpoints that hold the job for C, and restarts of R, the best
interval is sqrt(2 C M) [Young 1974], corrected for C against M [Daly 2006], and::

    lost = C / interval + (R + interval / 2) / M
"""

from math import sqrt
from typing import Final

from weft.engines.engine import StepTime
from weft.results import Estimate
from weft.sources import sourced
from weft.spec.cluster import Cluster
from weft.spec.workload import Job

DAY_S: Final = 86400.0

STOPS_PER_GPU_DAY: Final = sourced(
    419 / (54 * 16384), "llama3_table5", low=2.3e-4, high=1.2e-3, confidence=3
)
"""Llama 3: 419 unexpected stops in 54 days on 16,384 GPUs; others see up to twice as many."""
RESTART_S: Final = sourced(600.0, "llama3_section3", low=180.0, high=1800.0, confidence=1)
"""Detect, replace the host, load, warm up; Llama 3 kept above 90 % effective time."""
CHECKPOINT_S: Final = sourced(10.0, "megascale", low=1.0, high=60.0, confidence=1)
"""The job waits for the copy to host memory; writing to storage goes on behind it."""


def goodput(cluster: Cluster, job: Job, step: StepTime) -> Estimate:
    """Return the share of wall time in which the job makes progress that it keeps."""
    gpus = job.gpus or cluster.gpus
    given = cluster.reliability
    stops = given.stops_per_gpu_day, STOPS_PER_GPU_DAY
    restart = given.restart_s, RESTART_S
    write = given.checkpoint_write_s, CHECKPOINT_S
    ends = []
    for end in ("value", "low", "high"):
        rates = [
            getattr(default, end) if own is None else own
            for own, default in (stops, restart, write)
        ]
        ends.append(
            progress_ratio(
                rates[0] * gpus / DAY_S,
                rates[1],
                rates[2],
                given.checkpoint_interval_s,
                step.step_s.value,
            )
        )
    value, best, worst = ends
    return Estimate(value, worst, best)


def progress_ratio(
    stops_per_s: float,
    restart_s: float,
    checkpoint_s: float,
    interval_s: float | None,
    step_s: float,
) -> float:
    """Return kept progress over wall time; half a step is lost at a stop in any case."""
    if stops_per_s == 0:
        return 1.0 if interval_s is None else interval_s / (interval_s + checkpoint_s)
    mean_s = 1 / stops_per_s
    every_s = interval_s or best_interval_s(checkpoint_s, mean_s)
    every_s = max(every_s, step_s)
    lost = checkpoint_s / every_s + (restart_s + every_s / 2) / mean_s
    return 1 / (1 + lost)


def best_interval_s(checkpoint_s: float, mean_between_stops_s: float) -> float:
    """Return Young's interval with Daly's correction; at least one checkpoint long."""
    young = sqrt(2 * checkpoint_s * mean_between_stops_s)
    return max(checkpoint_s, young - checkpoint_s)
