"""One cluster, one job: how long a step takes, what it costs, and why."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from weft import catalogue
from weft.catalogue.devices import Gpu
from weft.design.cost import TotalCost, total_cost
from weft.engines.analytic import step as engine
from weft.engines.analytic.collective.constants import current
from weft.engines.analytic.collective.path import Same, path_of
from weft.engines.engine import StepTime
from weft.errors import SpecError
from weft.predict.provenance import provenance
from weft.predict.watching import Report
from weft.results import Estimate, Provenance, combine
from weft.spec.cluster import Cluster
from weft.spec.workload import Job
from weft.traffic.demand import demands
from weft.units import SECONDS

if TYPE_CHECKING:
    from weft.predict.probing import Engine, Prober

TRILLION = 1e12


@dataclass(frozen=True, slots=True, kw_only=True)
class Packets:
    """What a simulation gave to a prediction."""

    said: tuple[str, ...]
    """What was simulated, what it gave, and what was extrapolated."""
    missing: tuple[str, ...]
    """What kept its sourced factors, and why."""
    slow_ratio: float
    """Speed at the low end of what packets leave, over that at the middle."""
    fast_ratio: float
    """Speed at the high end."""


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
    packets: Packets | None = None
    """What was simulated, by flows or packet by packet, where that was asked for."""
    domain: str = ""
    """``within the measured domain``, or what of the step lies beyond any measurement."""
    complete: bool = True
    """False where the simulation was interrupted: what was missing is sourced."""
    failed: tuple[str, ...] = ()
    """Faults of the network that last during the step."""
    provenance: Provenance


def predict(
    cluster: Cluster,
    job: Job,
    *,
    fidelity: str = "analytic",
    report: Report | None = None,
) -> Prediction:
    """Predict one training job on one cluster.

    With the fidelity ``flow`` or ``packet`` what the network leaves of the NICs' rate is
    simulated for every pattern of the step, not taken from its source; ``report`` is told how
    far that is.
    Raises Infeasible when the job fits in no way that weft knows of.
    """
    return predict_with(cluster, job, prober_for(fidelity, report))


def prober_for(
    fidelity: str, report: Report | None = None, failed: Sequence[str] = ()
) -> "Prober | None":
    """Return what simulates collectives at this fidelity; none where nothing does.

    ``failed`` are faults that last, by name; only links of flows can fail.
    """
    if failed:
        from weft.predict.flows import while_failed  # noqa: PLC0415 - it compiles kernels
        from weft.predict.probing import Prober  # noqa: PLC0415 - as above

        if fidelity != "flow":
            raise SpecError(f"{fidelity!r} has no links that can fail; add --fidelity flow")
        return Prober(report=report, engine=while_failed(failed))
    if fidelity == "analytic":
        return None
    from weft.predict.probing import Prober, engine_of  # noqa: PLC0415 - it compiles kernels

    return Prober(report=report, engine=engine_of(fidelity))


def predict_with(cluster: Cluster, job: Job, prober: "Prober | None") -> Prediction:
    """Predict one training job, its collectives simulated where there is a prober."""
    resolved = engine.resolve(cluster, job)
    step, packets = _step(cluster, resolved, prober)
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
        packets=packets,
        domain=step.domain,
        complete=prober is None or not prober.interrupted,
        provenance=_provenance(
            cluster,
            resolved,
            (*step.assumptions, *cost.assumptions, *_factors(cluster, step, packets)),
            packets,
            None if prober is None else prober.engine,
        ),
    )


def _factors(cluster: Cluster, step: StepTime, packets: Packets | None) -> tuple[str, ...]:
    """Return what the fabric is taken to leave; none where that is simulated."""
    if packets is not None and packets.said:
        return ()
    same = Same(cluster)
    paths = (
        path_of(same, traffic.group, current())
        for traffic in step.traffic
        if traffic.fabric_ratio
    )
    return tuple(dict.fromkeys(line for path in paths for line in path.factors))


def _step(
    cluster: Cluster, job: Job, prober: "Prober | None"
) -> tuple[StepTime, Packets | None]:
    """Return the step; with packets its band holds that of what was simulated too."""
    if prober is None:
        return engine.step_time(cluster, job), None
    wanted = [
        (demand.operation, demand.group) for demand in demands(job, cluster.gpus_per_domain)
    ]
    prober.missing.clear()
    prober.plan(cluster, wanted)
    middle, slow, fast = (
        engine.step_time(cluster, job, collective=prober.collective(end))
        for end in ("value", "low", "high")
    )
    found = [prober.probe(cluster, *pair) for pair in wanted if pair[1].domains > 1]
    said = tuple(dict.fromkeys(probed.said for probed in found if probed is not None))
    packets = Packets(
        said=said,
        missing=tuple(prober.missing),
        slow_ratio=middle.step_s.value / slow.step_s.value,
        fast_ratio=middle.step_s.value / fast.step_s.value,
    )
    step_s = Estimate(middle.step_s.value, fast.step_s.low, slow.step_s.high)
    return replace(middle, step_s=step_s, reasons=(*middle.reasons, *said)), packets


def _provenance(
    cluster: Cluster,
    job: Job,
    assumptions: tuple[str, ...],
    packets: Packets | None,
    engine: "Engine | None",
) -> Provenance:
    if packets is None or engine is None or not packets.said:
        missing = () if packets is None else packets.missing
        return provenance(cluster, job, sources=(), assumptions=(*assumptions, *missing))
    from weft.predict.probing import SEEDS  # noqa: PLC0415 - as above

    made = provenance(
        cluster, job, sources=(), assumptions=(*assumptions, engine.placed, *packets.missing)
    )
    models = made.models | engine.models
    return replace(made, engine=engine.name, models=models, seed=SEEDS[0])


def sweep(
    cluster: Cluster, job: Job, gpus: Iterable[int], prober: "Prober | None" = None
) -> Iterator[Prediction]:
    """Predict the job at several sizes of the cluster, its batch growing in step.

    The batch of the job belongs to its own size; with ``parallelism: auto`` each size is
    searched, otherwise data parallelism takes up the change.
    """
    own = job.gpus or cluster.gpus
    for count in gpus:
        hosts = -(-count // cluster.host.gpus)
        yield predict_with(cluster.with_(hosts=hosts), _scaled(job, count, own), prober)


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
