"""The cheapest network that reaches a step time, of all candidates at their best."""

from collections.abc import Iterator
from dataclasses import dataclass

from weft.advise.best import Found, Goal, Weighted, best
from weft.advise.candidate import Candidate, candidates
from weft.advise.chosen import Chosen, chosen
from weft.advise.limits import objections
from weft.advise.pins import NOTHING, Pins
from weft.errors import WeftError
from weft.predict.training import Prediction, predict
from weft.spec.cluster import Cluster
from weft.spec.workload import Job


@dataclass(frozen=True, slots=True, kw_only=True)
class Reaching:
    """A network that reaches the target at the least cost of a GPU-hour."""

    name: str
    title: str
    prediction: Prediction
    chosen: tuple[Chosen, ...]
    """What was pinned, and what was found."""


def cheapest(
    cluster: Cluster, job: Job, step_s: float, pins: Pins = NOTHING
) -> Reaching | None:
    """Return the cheapest network that runs a step in so long; none where no network does."""
    found = sorted(_found(cluster, job, Goal(step_s=step_s), pins), key=_usd)
    for candidate, network in found:
        prediction = predict(network.cluster, network.jobs[0])
        if not objections(candidate, prediction.cost, cluster.constraints):
            return Reaching(
                name=candidate.name,
                title=candidate.title,
                prediction=prediction,
                chosen=chosen(network, pins, searched=job.parallelism == "auto"),
            )
    return None


def _usd(pair: tuple[Candidate, Found]) -> float:
    return pair[1].usd_per_gpu_hour


def _found(
    cluster: Cluster, job: Job, goal: Goal, pins: Pins
) -> Iterator[tuple[Candidate, Found]]:
    """Yield what each candidate that may be recommended and needs no second network gives."""
    for candidate in candidates().values():
        if not candidate.fabric or not candidate.choice or candidate.storage_fabric:
            continue
        try:
            yield candidate, best(candidate, cluster, (Weighted(job=job),), pins, goal)
        except WeftError:  # it cannot be built here, or not be so fast
            continue
