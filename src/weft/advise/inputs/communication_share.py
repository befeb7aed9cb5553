"""What if communication were a larger, or a smaller, part of the step?"""

from weft.advise.case import Case
from weft.advise.question import search_input
from weft.advise.question import with_batch as batch_of
from weft.spec.workload import Job, Parallelism

RATIOS = (0.25, 1.0, 4.0)


def with_batch(case: Case, batch: float) -> Job:
    """Return the job with another number of sequences a step, in whole micro-batches."""
    spread = case.job.parallelism
    assert isinstance(spread, Parallelism)
    slots = case.gpus // case.replica_gpus * case.job.micro_batch
    return case.job.with_(global_batch=max(1, round(batch / slots)) * slots)


def _current(case: Case) -> float:
    return float(case.jobs[0].job.global_batch)


def _choices(case: Case) -> tuple[float, ...]:
    return tuple(n for r in RATIOS if (n := _current(case) * r).is_integer())


def _changed(case: Case, batch: float) -> Case:
    return batch_of(case, round(batch))


communication_share = search_input(
    title="sequences of a step",
    unit="sequences",
    current=_current,
    changed=_changed,
    choices=_choices,
    source="a quarter to four times the batch: fewer make communication a larger share",
)
