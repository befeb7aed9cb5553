"""Filling in a job: data parallelism, divisibility, memory, and the search of ``auto``."""

from collections.abc import Iterator
from functools import lru_cache
from itertools import islice

from weft.engines.analytic.step.memory import gpu_memory_bytes, memory_bytes, powers_of_two
from weft.engines.analytic.step.model import step_time
from weft.engines.analytic.step.ways import Machine, Ways, ways_of
from weft.engines.engine import StepTime
from weft.errors import Infeasible
from weft.spec.cluster import Cluster
from weft.spec.workload import Job, Parallelism
from weft.traffic.demand import micro_batches, spread_of, stage_layers

RECOMPUTE = ("none", "selective", "full")
MOST_TRIED = 1000
"""Ways to spread a job that are tried, the likely ones first."""
PLAIN_SHARDING = {"megatron": "zero1", "other": "zero1", "pytorch": "none"}
"""What a framework shards without being asked; the others shard everything."""
LONG_CONTEXT = 4096
"""Context parallelism leaves each rank at least so many tokens of a sequence."""


def resolve(cluster: Cluster, job: Job, *, fits: bool = True) -> Job:
    """Fill in what the job leaves open, and check that the cluster can run it.

    With ``parallelism: auto`` the fastest feasible one of a search is taken, with more
    recomputation when nothing fits otherwise. ``fits=False`` leaves memory unchecked.
    """
    gpus = job.gpus or cluster.gpus
    if gpus > cluster.gpus:
        raise Infeasible(
            f"the job wants {gpus} GPUs and the cluster has {cluster.gpus}:"
            " give it more hosts, or the job fewer GPUs"
        )
    if job.parallelism == "auto":
        found = _searched(cluster, job.with_(gpus=gpus, name=""))
        return found.with_(name=job.name)
    filled = _filled(job.with_(gpus=gpus), job.parallelism)
    if fits:
        _check_memory(cluster, filled)
    return filled


def search(cluster: Cluster, job: Job) -> list[tuple[Parallelism, StepTime]]:
    """Return the feasible ways to spread a job, fastest first, of the likely ones."""
    job = job.with_(gpus=job.gpus or cluster.gpus)
    found = [(spread_of(way), step_time(cluster, way)) for way in _fitting(cluster, job)]
    return sorted(found, key=lambda pair: pair[1].step_s.value)


def all_ways(cluster: Cluster, job: Job) -> Ways:
    """Return all ways to run a job on the machine of a cluster, prepared to be timed.

    One that is given is the only one; for ``auto`` all feasible ones, with more recomputation
    too. Raises Infeasible where there is none.
    """
    if job.parallelism != "auto":
        job = resolve(cluster, job)
    return _ways(Machine(cluster), job.with_(gpus=job.gpus or cluster.gpus, name=""))


@lru_cache(maxsize=128)
def _ways(machine: Machine, job: Job) -> Ways:
    cluster = machine.cluster
    if job.parallelism != "auto":
        return ways_of(cluster, (job,))
    found: list[Job] = []
    for recompute in RECOMPUTE[RECOMPUTE.index(job.recompute) :]:
        if recompute == "selective" and job.attention != "unfused" and found:
            continue  # It frees nothing that fused attention keeps.
        found += _fitting(cluster, job.with_(recompute=recompute))
    if not found:
        raise _nothing_fits(cluster, job)
    return ways_of(cluster, found)


def _fitting(cluster: Cluster, job: Job) -> Iterator[Job]:
    """Yield the likely ways to spread a job that divide evenly and fit the memory."""
    has = gpu_memory_bytes(cluster)
    for spread in islice(candidates(cluster, job), MOST_TRIED):
        tried = job.with_(parallelism=spread)
        if sum(memory_bytes(tried).values()) <= has:
            yield tried


def candidates(cluster: Cluster, job: Job) -> Iterator[Parallelism]:
    """Yield the ways to spread a job that divide evenly, likely ones first."""
    gpus, model = job.gpus or cluster.gpus, job.model
    base = job.parallelism
    if not isinstance(base, Parallelism):
        base = Parallelism(overlap_tp=job.framework == "megatron")
    for pp in _stages(model.layers, gpus):
        for tp in powers_of_two(min(cluster.host.scale_up.gpus, model.heads)):
            for cp in powers_of_two(min(64, job.sequence_length // LONG_CONTEXT) or 1):
                rest = gpus // (pp * tp * cp)
                if rest == 0 or gpus % (pp * tp * cp) or job.global_batch % rest:
                    continue
                if job.global_batch // rest % job.micro_batch:
                    continue
                yield from _variants(job, base.with_(
                    pp=pp, tp=tp, cp=cp, dp=rest, uneven_stages=model.layers % pp != 0,
                ))  # fmt: skip


def _variants(job: Job, spread: Parallelism) -> Iterator[Parallelism]:
    experts = job.model.experts
    ranks = (spread.dp or 1) * spread.cp * spread.tp
    widths = powers_of_two(min(ranks, experts.experts, 64)) if experts else [1]
    kinds = [PLAIN_SHARDING.get(job.framework, "zero3")]
    if spread.pp == 1 and kinds != ["zero3"] and not experts:
        kinds.append("zero3")
    for ep in widths:
        if experts and (ranks % ep or experts.experts % ep):
            continue
        for sharding in kinds:
            for chunks in _chunks(job, spread):
                yield spread.with_(
                    ep=ep,
                    sharding=sharding,
                    virtual_stages=chunks,
                    schedule="interleaved" if chunks > 1 else "1f1b",
                )


def _chunks(job: Job, spread: Parallelism) -> list[int]:
    """Return the numbers of model chunks worth trying: none, all, and half of all."""
    if spread.pp == 1 or micro_batches(job.with_(parallelism=spread)) % spread.pp:
        return [1]
    layers = int(stage_layers(job.model, spread))
    wanted = {1, layers, *([layers // 2] if layers % 2 == 0 else [])}
    return sorted(n for n in wanted if 0 < n * spread.pp <= job.model.layers)


def _stages(layers: int, gpus: int) -> list[int]:
    """Return numbers of stages: those that divide the layers, and powers of two up to 64."""
    most = min(layers, gpus)
    return [n for n in range(1, most + 1) if layers % n == 0 or n in {2, 4, 8, 16, 32, 64}]


@lru_cache(maxsize=512)
def _searched(cluster: Cluster, job: Job) -> Job:
    return all_ways(cluster, job).fastest(cluster).job


def _nothing_fits(cluster: Cluster, job: Job) -> Infeasible:
    return Infeasible(
        f"{job.model.name} ({job.model.parameters() / 1e9:.3g}e9 parameters) with a global"
        f" batch of {job.global_batch} does not fit on {job.gpus} GPUs of"
        f" {gpu_memory_bytes(cluster) / 1e9:.0f} GB with any parallelism:"
        f" {_advice(cluster, job)}"
    )


def _advice(cluster: Cluster, job: Job) -> str:
    """Say whether memory is short or nothing divides, and what would help."""
    if next(candidates(cluster, job), None) is None:
        return (
            f"no layout divides both; take a batch that is a multiple of a large divisor of"
            f" {job.gpus}, or a number of GPUs with more powers of two"
        )
    return "use more GPUs or a smaller micro-batch or sequence"


def _filled(job: Job, spread: Parallelism) -> Job:
    gpus = job.gpus or 1
    ranks = spread.tp * spread.cp * spread.pp
    if gpus % ranks:
        raise Infeasible(
            f"tp {spread.tp} x cp {spread.cp} x pp {spread.pp} = {ranks} does not divide"
            f" {gpus} GPUs: change one of them or the number of GPUs"
        )
    dp = spread.dp or gpus // ranks
    if dp * ranks != gpus:
        raise Infeasible(
            f"tp {spread.tp} x cp {spread.cp} x pp {spread.pp} x dp {dp} = {ranks * dp}, but"
            f" the job has {gpus} GPUs: leave dp out, and weft fills it in"
        )
    filled = job.with_(parallelism=spread.with_(dp=dp))
    _check_divides(filled)
    return filled


def _check_divides(job: Job) -> None:
    spread, model = spread_of(job), job.model
    replicas = spread.dp or 1
    if job.global_batch < replicas:
        raise Infeasible(
            f"a global batch of {job.global_batch} leaves some of the {replicas} data-parallel"
            " ranks without a sequence: enlarge the batch, or use more of the other dimensions"
        )
    if model.layers < spread.pp * spread.virtual_stages:
        raise Infeasible(
            f"{model.layers} layers cannot fill {spread.pp} stages of {spread.virtual_stages}"
            f" chunks: pp x virtual_stages is at most {model.layers}"
        )
    if spread.ep == 1:
        return
    ranks = replicas * spread.cp * spread.tp
    if model.experts is None or model.experts.experts % spread.ep or ranks % spread.ep:
        experts = model.experts.experts if model.experts else "no"
        raise Infeasible(
            f"ep {spread.ep} must divide the {experts} experts of {model.name} and the"
            f" {ranks} GPUs of one stage (tp x cp x dp)"
        )


def _check_memory(cluster: Cluster, job: Job) -> None:
    needs = memory_bytes(job)
    total, has = sum(needs.values()), gpu_memory_bytes(cluster)
    if total > has:
        largest = max(needs, key=lambda part: needs[part])
        raise Infeasible(
            f"the fullest GPU needs {total / 1e9:.0f} GB and {cluster.host.gpu} has"
            f" {has / 1e9:.0f} GB ({largest}: {needs[largest] / 1e9:.0f} GB): use more tp, pp,"
            " sharding or recomputation, a smaller micro_batch, or parallelism: auto"
        )
