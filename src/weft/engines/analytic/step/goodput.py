"""Goodput: what failures, checkpoints and restarts leave of the wall time.

With stops every M seconds, checkpoints that hold the job for C, and restarts of R, the best
interval is sqrt(2 C M) [Young 1974], corrected for C against M [Daly 2006], and::

    lost = C / interval + (R + interval / 2) / M
"""

from collections.abc import Iterator
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
    every_s = cluster.reliability.checkpoint_interval_s
    value, best, worst = (
        progress_ratio(*rates, every_s, step.step_s.value) for rates in _rates(cluster, gpus)
    )
    return Estimate(value, worst, best)


def stop_s(cluster: Cluster, gpus: int, step_s: float) -> Estimate:
    """Return the wall time that one stop of a job costs: the restart, and work done again.

    Work since the last checkpoint is half an interval in the mean.
    """
    given = cluster.reliability.checkpoint_interval_s
    value, low, high = (
        restart_s + interval_s(stops_per_s, checkpoint_s, given, step_s) / 2
        for stops_per_s, restart_s, checkpoint_s in _rates(cluster, gpus)
    )
    return Estimate(value, min(value, low), max(value, high))


def _rates(cluster: Cluster, gpus: int) -> Iterator[tuple[float, float, float]]:
    """Yield stops a second, the restart and the write of a checkpoint: value, low, high."""
    given = cluster.reliability
    named = (
        (given.stops_per_gpu_day, STOPS_PER_GPU_DAY),
        (given.restart_s, RESTART_S),
        (given.checkpoint_write_s, CHECKPOINT_S),
    )
    for end in ("value", "low", "high"):
        stops, restart_s, checkpoint_s = (
            getattr(default, end) if own is None else own for own, default in named
        )
        yield stops * gpus / DAY_S, restart_s, checkpoint_s


def progress_ratio(
    stops_per_s: float,
    restart_s: float,
    checkpoint_s: float,
    given_s: float | None,
    step_s: float,
) -> float:
    """Return kept progress over wall time; half a step is lost at a stop in any case."""
    if stops_per_s == 0:
        return 1.0 if given_s is None else given_s / (given_s + checkpoint_s)
    every_s = interval_s(stops_per_s, checkpoint_s, given_s, step_s)
    lost = checkpoint_s / every_s + (restart_s + every_s / 2) * stops_per_s
    return 1 / (1 + lost)


def interval_s(
    stops_per_s: float, checkpoint_s: float, given_s: float | None, step_s: float
) -> float:
    """Return the time between checkpoints: as given, else the best; at least one step."""
    if given_s is None and stops_per_s == 0:
        return step_s
    return max(given_s or best_interval_s(checkpoint_s, 1 / stops_per_s), step_s)


def best_interval_s(checkpoint_s: float, mean_between_stops_s: float) -> float:
    """Return Young's interval with Daly's correction; at least one checkpoint long."""
    young = sqrt(2 * checkpoint_s * mean_between_stops_s)
    return max(checkpoint_s, young - checkpoint_s)
