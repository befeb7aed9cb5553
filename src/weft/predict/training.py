"""One cluster, one job: how long a step takes, what it costs, and why."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from weft import catalogue
from weft.catalogue.devices import Gpu
from weft.design.cost import TotalCost, total_cost
from weft.engines.analytic import step as engine
from weft.engines.engine import StepTime
from weft.predict.provenance import provenance
from weft.results import Estimate, Provenance, combine
from weft.spec.cluster import Cluster
from weft.spec.workload import Job
from weft.units import SECONDS

TRILLION = 1e12


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """A training job on a cluster. Ratios are 0 to 1; money is US dollars."""

    cluster: Cluster
    job: Job
    """With its parallelism filled in."""
    gpus: int
    step: StepTime
    step_s: Estimate
    mfu_ratio: Estimate
    """Useful FLOP/s over the dense peak of the precision that the job computes in."""
    hfu_ratio: Estimate
    """The same with recomputation counted."""
    tokens_per_s: Estimate
    goodput_ratio: Estimate
    """Share of wall time that makes progress: failures, checkpoints and restarts taken off."""
    exposed_ratio: Estimate
    """Share of the step in which the GPUs wait for the network."""
    cost: TotalCost
    usd_per_1t_tokens: Estimate
    energy_j_per_token: Estimate
    run_s: Estimate | None
    """Whole training run at this goodput, when the job says how many tokens it has."""
    provenance: Provenance


def predict(cluster: Cluster, job: Job) -> Prediction:
    """Predict one training job on one cluster with the analytic engine.

    Raises Infeasible when the job fits in no way that weft knows of.
    """
    resolved = engine.resolve(cluster, job)
    step = engine.step_time(cluster, resolved)
    gpus = resolved.gpus or cluster.gpus
    goodput = engine.goodput(cluster, resolved, step)
    cost = total_cost(cluster)
    tokens_per_step = resolved.global_batch * resolved.sequence_length
    tokens_per_s = step.step_s.map(lambda s: tokens_per_step / s)
    peak = _peak_flop_per_s(cluster, resolved) * gpus
    share = gpus / cluster.gpus
    progress = combine(lambda t, g: t * g, tokens_per_s, goodput)
    return Prediction(
        cluster=cluster,
        job=resolved,
        gpus=gpus,
        step=step,
        step_s=step.step_s,
        mfu_ratio=step.step_s.map(lambda s: step.model_flops / s / peak),
        hfu_ratio=step.step_s.map(lambda s: step.hardware_flops / s / peak),
        tokens_per_s=tokens_per_s,
        goodput_ratio=goodput,
        exposed_ratio=_exposed(step),
        cost=cost,
        usd_per_1t_tokens=combine(
            lambda usd, t: usd * gpus / SECONDS["h"] / t * TRILLION,
            cost.usd_per_gpu_hour,
            progress,
        ),
        energy_j_per_token=combine(lambda w, t: w * share / t, cost.power_w, progress),
        run_s=None if job.tokens is None else progress.map(lambda t: (job.tokens or 0) / t),
        provenance=provenance(
            cluster, resolved, sources=(), assumptions=step.assumptions + cost.assumptions
        ),
    )


def sweep(cluster: Cluster, job: Job, gpus: Iterable[int]) -> Iterator[Prediction]:
    """Predict the job at several sizes of the cluster, its batch growing in step.

    The batch of the job belongs to its own size; with ``parallelism: auto`` each size is
    searched, otherwise data parallelism takes up the change.
    """
    own = job.gpus or cluster.gpus
    for count in gpus:
        hosts = -(-count // cluster.host.gpus)
        yield predict(
            cluster.with_(hosts=hosts),
            _scaled(job, count, own),
        )


def _scaled(job: Job, gpus: int, own: int) -> Job:
    batch = max(1, round(job.global_batch * gpus / own))
    if job.parallelism == "auto":
        return job.with_(gpus=gpus, global_batch=batch)
    parallelism = job.parallelism.with_(dp=None)
    model_ranks = parallelism.tp * parallelism.pp * parallelism.cp
    slots = max(1, gpus // model_ranks) * job.micro_batch
    return job.with_(
        gpus=gpus, global_batch=max(slots, batch // slots * slots), parallelism=parallelism
    )


def _peak_flop_per_s(cluster: Cluster, job: Job) -> float:
    gpu = catalogue.find("gpus", cluster.host.gpu)
    assert isinstance(gpu, Gpu)
    return gpu.peak_flop_per_s(job.precision)


def _exposed(step: StepTime) -> Estimate:
    waiting = sum(s for part, s in step.breakdown_s.items() if part.startswith("exposed_"))
    ratio = waiting / step.step_s.value
    spread = (step.step_s.high - step.step_s.low) / 2 / step.step_s.value
    return Estimate(ratio, max(0.0, ratio * (1 - spread)), min(1.0, ratio * (1 + spread)))
