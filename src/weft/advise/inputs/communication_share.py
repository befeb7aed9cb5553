"""What if communication were a larger, or a smaller, part of the step?"""

from weft.advise.case import TRILLION, Case
from weft.advise.input import Input
from weft.spec.workload import Job, Parallelism


def with_batch(case: Case, batch: float) -> Job:
    """Return the job with another number of sequences a step, in whole micro-batches."""
    spread = case.job.parallelism
    assert isinstance(spread, Parallelism)
    slots = case.gpus // case.replica_gpus * case.job.micro_batch
    return case.job.with_(global_batch=max(1, round(batch / slots)) * slots)


def _least(case: Case) -> float:
    """Return the batch of one micro-batch a replica: the most communication there can be."""
    return float(case.gpus // case.replica_gpus * case.job.micro_batch)


def _usd(case: Case, name: str, batch: float) -> float:
    row, changed = case.row(name), case.pace(name, job=with_batch(case, batch))
    return row.usd_per_s / changed.progress_tokens_per_s * TRILLION


communication_share = Input(
    title="sequences of one step: fewer make communication a larger share of it",
    unit="sequences",
    current=lambda case: float(case.job.global_batch),
    span=lambda case: (_least(case), 16.0 * case.job.global_batch),
    usd_per_1t_tokens=_usd,
    source="one micro-batch a replica to sixteen times the batch",
    snap=lambda case, batch: float(with_batch(case, batch).global_batch),
)
