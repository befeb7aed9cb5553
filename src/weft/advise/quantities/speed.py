"""How fast a job trains, or a model is served, on one network against another at its best."""

from collections.abc import Sequence
from math import hypot

from weft.advise.case import Case, Row
from weft.advise.knobs import fabric_factor, with_bandwidth
from weft.advise.quantity import (
    ASSUMED,
    SIMULATED,
    NeedsPackets,
    Trial,
    exactly,
    quantity,
)
from weft.advise.spread import Spread
from weft.errors import Infeasible
from weft.network.shares import Effect, effects_under
from weft.predict.inference import ServicePrediction, predict_service
from weft.results import Estimate
from weft.spec.cluster import Cluster
from weft.spec.inference import Inference
from weft.spec.load import load_tuning
from weft.spec.workload import Job
from weft.traffic.demand import spread_of

COMPUTE = ("matrix", "attention", "memory_bound", "recompute", "launch")
SEQUENCES_PER_GPU = 8
"""Requests at once, where only a training job is specified."""


@quantity("training speed on {name} over the best of {over}, batch x {batch}", "ratio")
def speed_over(trial: Trial, name: str, over: Sequence[str], batch: float = 1) -> Estimate:
    """Return progress over that of the fastest other, each with its own best parallelism."""
    rows = [trial.row(text) for text in over]
    mine, best = trial.row(name), max(rows, key=lambda row: row.progress_tokens_per_s)
    ratio = _progress(trial.case, mine, batch) / _progress(trial.case, best, batch)
    return _band(ratio, trial.spread(name), trial.spread(best.name))


@quantity("training speed lost on {name} against the best of {over}, batch x {batch}", "ratio")
def speed_lost(trial: Trial, name: str, over: Sequence[str], batch: float = 1) -> Estimate:
    """Return 1 - speed_over."""
    return speed_over(trial, name, over, batch).map(lambda ratio: 1 - ratio)


@quantity("training on {over} is faster than on {name} by this factor", "x")
def slower(trial: Trial, name: str, over: str) -> Estimate:
    """Return the speed on one network over that on another."""
    return speed_over(trial, over, [name])


@quantity("training speed on {name} with {key}={value} over that without", "ratio")
def speed_when(trial: Trial, name: str, key: str, value: object) -> Estimate:
    """Return the speed with one key of the cluster changed, on the row's own cluster.

    Both share fabric and job, so that the errors of both cancel.
    """
    row = trial.row(name)
    part, field = key.split(".")
    held = getattr(row.prediction.cluster, part)
    if getattr(held, field) == value:
        raise Infeasible(f"{key} is {value} already")

    def change(cluster: Cluster) -> Cluster:
        return cluster.with_(**{part: getattr(cluster, part).with_(**{field: value})})

    changed = trial.case.pace(name, change=change)
    own = trial.case.pace(name)
    return exactly(changed.progress_tokens_per_s / own.progress_tokens_per_s)


@quantity("MFU of RoCE, {tuning}, over that tuned", "ratio", ASSUMED)
def mfu_left(trial: Trial, tuning: str) -> Estimate:
    """Return what mis-set switches and NICs leave, hash collisions included."""
    good = trial.row("roce_tuned")

    def change(cluster: Cluster) -> Cluster:
        fabric = cluster.fabric.with_(load_balancing="ecmp", tuning=tuning)
        return cluster.with_(fabric=fabric)

    factor = fabric_factor(change(good.prediction.cluster))
    step_s = good.prediction.step_s.value

    def left(ratio: float) -> float:
        paced = trial.case.pace(
            "roce_tuned", change=lambda cluster: with_bandwidth(change(cluster), ratio)
        )
        return step_s / paced.step_s

    low, high = left(factor.low / factor.value), left(factor.high / factor.value)
    return Estimate(left(1.0), min(low, left(1.0)), max(high, left(1.0)))


@quantity("MFU of RoCE without pauses over that of RoCE tuned", "ratio", SIMULATED)
def mfu_left_without_pauses(trial: Trial) -> Estimate:
    """Return what dropped packets leave, where no class is lossless."""
    if not trial.packets:
        raise NeedsPackets("closed forms drop nothing; use --fidelity packet")
    settings = load_tuning("roce_without_pfc")

    def change(cluster: Cluster) -> Cluster:
        fabric = cluster.fabric.with_(
            load_balancing="ecmp", tuning="misconfigured", settings=settings
        )
        return cluster.with_(fabric=fabric)

    good = trial.row("roce_tuned").prediction
    bad = trial.case.row("roce_tuned", change=change).prediction
    left = good.step_s.value / bad.step_s.value
    slow, fast = (
        (1.0, 1.0) if bad.packets is None else (bad.packets.slow_ratio, bad.packets.fast_ratio)
    )
    return Estimate(left, left * slow, left * fast)


@quantity("MFU of RoCE with mis-set pauses beside storage over that tuned", "ratio", ASSUMED)
def mfu_left_beside_storage(trial: Trial) -> Estimate:
    """Return what pauses of storage ports leave of what GPUs wait for.

    A step is longer by what its exposed communication takes longer, as simulated of rings
    (``beside_storage`` in fits/fabric_shares.py).
    """
    exposed, found = trial.row("roce_tuned").exposed_ratio, _beside_storage().simulated
    slowdown = Estimate(found.value, found.low, found.high)
    return slowdown.map(lambda times: 1 / (1 + exposed * max(0.0, times - 1)))


@quantity("data-parallel communication over computation, batch {batch}", "ratio")
def reduction_over_compute(trial: Trial, batch: str) -> Estimate:
    """Return the time of gradient exchange over that of computation, overlap aside.

    The exchange does not depend on the batch and computation is proportional to it; ``least``
    is one micro-batch for each replica.
    """
    prediction = trial.case.verdict.prediction
    step, job = prediction.step, prediction.job
    reduce_s = sum(traffic.total_s for traffic in step.traffic if traffic.dimension == "dp")
    compute_s = sum(step.breakdown_s.get(part, 0.0) for part in COMPUTE)
    factor = job.global_batch / _least_batch(prediction.gpus, job) if batch == "least" else 1.0
    relative = step.step_s.map(lambda s: s / step.step_s.value)
    return relative.map(lambda error: reduce_s / compute_s * factor * error)


@quantity("tokens per second of inference lost on {name} against the best of {over}", "ratio")
def inference_lost(trial: Trial, name: str, over: Sequence[str]) -> Estimate:
    """Return the loss of throughput, each network with its own best parallelism.

    The band of both is that of the same kernels; what is left is the share of a decode step
    that waits for the network on either side.
    """
    mine = _served(trial, name)
    others = [_served(trial, other) for other in over]
    best = max(others, key=lambda service: service.tokens_per_s.value)
    lost = 1 - mine.tokens_per_s.value / best.tokens_per_s.value
    waits = mine.network_ratio.high - mine.network_ratio.low
    waits += best.network_ratio.high - best.network_ratio.low
    return Estimate(lost, lost - waits / 2, lost + waits / 2)


def _served(trial: Trial, name: str) -> ServicePrediction:
    prediction = trial.row(name).prediction
    service = Inference(
        name="claim", model=prediction.job.model, precision=prediction.job.precision,
        sequences=SEQUENCES_PER_GPU * prediction.gpus, gpus=prediction.gpus,
    )  # fmt: skip
    return predict_service(prediction.cluster, service)


def _least_batch(gpus: int, job: Job) -> float:
    spread = spread_of(job)
    return gpus / (spread.tp * spread.cp * spread.pp) * job.micro_batch


def _beside_storage() -> Effect:
    found = effects_under("roce_misconfigured")
    return next(effect for effect in found if effect.name == "beside_storage")


def _progress(case: Case, row: Row, batch: float) -> float:
    """Return the progress of a row with its own job, its batch so many times as large."""
    if batch == 1:
        return row.progress_tokens_per_s
    job = row.prediction.job
    larger = job.with_(global_batch=round(job.global_batch * batch))
    return case.pace(row.name, job=larger).progress_tokens_per_s


def _band(ratio: float, mine: Spread, theirs: Spread) -> Estimate:
    """Return a ratio of two speeds with what is unknown of either fabric alone."""
    up = hypot(mine.fast_ratio - 1, 1 - theirs.slow_ratio)
    down = hypot(1 - mine.slow_ratio, theirs.fast_ratio - 1)
    return Estimate(ratio, ratio * max(0.0, 1 - down), ratio * (1 + up))
