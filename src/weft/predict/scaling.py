"""One job at several sizes of the cluster: what each doubling brings."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from weft.errors import Infeasible
from weft.predict.training import Prediction, prober_for, sweep
from weft.predict.watching import Report
from weft.results import Estimate
from weft.spec.cluster import Cluster
from weft.spec.workload import Job


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """The job at one size."""

    gpus: int
    prediction: Prediction
    efficiency_ratio: Estimate
    """Tokens per second and GPU against the smallest size."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """A size at which the job cannot run, and why."""

    gpus: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Scaling:
    """A job on clusters of several sizes that differ in nothing else."""

    cluster: Cluster
    job: Job
    points: tuple[Point, ...]
    skipped: tuple[Skipped, ...]

    @property
    def complete(self) -> bool:
        """Tell whether the job runs at every size."""
        return not self.skipped


def scaling(
    cluster: Cluster,
    job: Job,
    gpus: Iterable[int],
    *,
    fidelity: str = "analytic",
    report: Report | None = None,
) -> Scaling:
    """Predict the job at each size; the batch grows in step with the GPUs (weak scaling).

    ``fidelity`` and ``report`` are those of ``predict``.
    """
    prober = prober_for(fidelity, report)
    found: list[Prediction] = []
    skipped: list[Skipped] = []
    for count in sorted(set(gpus)):
        try:
            found += sweep(cluster, job, [count], prober)
        except Infeasible as error:
            skipped.append(Skipped(gpus=count, reason=str(error)))
    if not found:
        raise Infeasible(skipped[0].reason if skipped else "no size was asked for")
    first = _tokens_per_s_per_gpu(found[0])
    points = tuple(
        Point(
            gpus=item.gpus,
            prediction=item,
            efficiency_ratio=item.tokens_per_s.map(_share_of(first * item.gpus)),
        )
        for item in found
    )
    return Scaling(cluster=cluster, job=job, points=points, skipped=tuple(skipped))


def _tokens_per_s_per_gpu(one: Prediction) -> float:
    return one.tokens_per_s.value / one.gpus


def _share_of(whole: float) -> Callable[[float], float]:
    return lambda part: part / whole
