"""A job in, the collectives of one optimiser step out: what one GPU sends, and in which group.

Ranks are placed as Megatron-LM places them: tensor parallelism innermost, then context, then
data, and pipeline stages outermost; expert groups run over the tensor, context and data ranks
of one stage.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from weft.spec.workload import Job, Model, Parallelism
from weft.traffic.collective import Group, Operation

ACTIVATION_BYTES: Final = 2
"""Activations and gathered parameters travel in 16 bits in every framework weft knows."""

GRADIENT_BYTES: Final = {
    "megatron": 4, "pytorch": 4, "fsdp": 4, "deepspeed": 2, "jax": 2, "other": 2,
}  # fmt: skip
"""Gradients on the wire: Megatron-LM (main_grad), FSDP (reduce_dtype) and DDP (the weights
under autocast) sum in 32 bits."""
HALF_BYTES: Final = 2
"""Gradients of weights that are kept in 16 bits."""

BUCKET_PARAMETERS: Final = 40_000_000
"""Least parameters of one gradient bucket of Megatron-LM's distributed optimiser."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """One kind of collective of one step on the busiest GPU."""

    dimension: str
    """dp, tp, cp, pp or ep."""
    operation: Operation
    group: Group
    size_bytes: float
    """As nccl-tests counts it: the total array for all-gather and reduce-scatter."""
    calls: float
    """In one step."""


def micro_batches(job: Job) -> int:
    """Count the micro-batches that one data-parallel rank runs in one step."""
    spread = spread_of(job)
    return max(1, -(-job.global_batch // ((spread.dp or 1) * job.micro_batch)))


def spread_of(job: Job) -> Parallelism:
    """Return the parallelism of a job that is resolved."""
    assert isinstance(job.parallelism, Parallelism), "resolve the job first"
    return job.parallelism


def tokens_of(job: Job) -> float:
    """Count the tokens of one micro-batch on one GPU (before tensor parallelism)."""
    return job.micro_batch * job.sequence_length / spread_of(job).cp


def stage_layers(model: Model, spread: Parallelism) -> float:
    """Count the layers of the fullest pipeline stage.

    Layers that do not divide leave room for embedding and head in the outer stages.
    """
    if model.layers % spread.pp == 0:
        return model.layers / spread.pp
    return -(-model.layers // spread.pp)


def stage_share(model: Model, spread: Parallelism) -> float:
    """Return the share of all layers on the fullest stage."""
    return stage_layers(model, spread) / model.layers


def dense_parameters(model: Model, spread: Parallelism) -> float:
    """Count the parameters of the fullest GPU that are not routed experts."""
    sparse = model.sparse_layers
    layers = (
        model.layers * model.attention_parameters
        + (model.layers - sparse) * model.dense_ffn_parameters
        + sparse * model.shared_expert_parameters
    )
    ends = model.embedding_parameters / (1 if spread.pp == 1 else 2)
    return (layers * stage_share(model, spread) + ends) / spread.tp


def expert_parameters(model: Model, spread: Parallelism) -> float:
    """Count the parameters of routed experts on one GPU."""
    if model.experts is None:
        return 0.0
    experts = model.sparse_layers * model.experts.experts * model.expert_parameters
    return experts * stage_share(model, spread) / (spread.ep * expert_tp(spread))


def expert_tp(spread: Parallelism) -> int:
    """Return the tensor parallelism inside experts: none once they are spread."""
    return spread.tp if spread.ep == 1 else 1


def gradient_bytes(job: Job) -> float:
    """Return the bytes of one gradient element on the wire."""
    if job.gradient_bytes is None and job.optimizer_states == "bf16":
        return HALF_BYTES
    return job.gradient_bytes or GRADIENT_BYTES[job.framework]


def demands(job: Job, gpus_per_domain: int) -> tuple[Demand, ...]:
    """List all communication of one step of a resolved job."""
    return (
        *_tensor(job, gpus_per_domain),
        *_context(job, gpus_per_domain),
        *_pipeline(job, gpus_per_domain),
        *_expert(job, gpus_per_domain),
        *_data(job, gpus_per_domain),
    )


def group_of(ranks: int, stride: int, gpus_per_domain: int) -> Group:
    """Place a group whose neighbouring ranks are ``stride`` GPUs apart.

    >>> group_of(16, 8, 8)
    Group(ranks=16, ranks_per_domain=1, neighbours=8, stride=1)
    """
    inside = max(1, min(ranks, gpus_per_domain // stride))
    while ranks % inside:
        inside -= 1
    return Group(
        ranks=ranks,
        ranks_per_domain=inside,
        neighbours=max(1, min(stride, gpus_per_domain // inside)),
    )


def _forward_passes(job: Job) -> int:
    return 2 if job.recompute == "full" else 1


def _tensor(job: Job, domain: int) -> Iterator[Demand]:
    spread, model = spread_of(job), job.model
    if spread.tp == 1:
        return
    group = group_of(spread.tp, 1, domain)
    size = tokens_of(job) * model.hidden * ACTIVATION_BYTES
    sparse = model.sparse_layers / model.layers if spread.ep > 1 else 0.0
    blocks = stage_layers(model, spread) * (2 - sparse) * micro_batches(job)
    forward = _forward_passes(job)
    backwards = [(Operation.ALL_REDUCE, 1)]
    if spread.sequence_parallel:
        # Backward gathers the inputs once more for the weight gradients [Korthikanti 2022].
        backwards = [(Operation.ALL_GATHER, 2), (Operation.REDUCE_SCATTER, 1)]
    for operation, backward in backwards:
        yield Demand(
            dimension="tp",
            operation=operation,
            group=group,
            size_bytes=size,
            calls=blocks * (forward + backward),
        )


def key_value_width(model: Model) -> int:
    """Return the width of keys and values of one token."""
    if model.latent_attention is None:
        return 2 * model.kv_heads * model.head_dim
    return model.attention_width


def _context(job: Job, domain: int) -> Iterator[Demand]:
    spread, model = spread_of(job), job.model
    if spread.cp == 1:
        return
    width = key_value_width(model) / spread.tp * ACTIVATION_BYTES
    size = tokens_of(job) * spread.cp * width
    layers = stage_layers(model, spread) * micro_batches(job)
    for operation, calls in (
        (Operation.ALL_GATHER, _forward_passes(job) + 1),
        (Operation.REDUCE_SCATTER, 1),
    ):
        yield Demand(
            dimension="cp",
            operation=operation,
            group=group_of(spread.cp, spread.tp, domain),
            size_bytes=size,
            calls=layers * calls,
        )


def _pipeline(job: Job, domain: int) -> Iterator[Demand]:
    spread = spread_of(job)
    if spread.pp == 1:
        return
    stage_gpus = spread.tp * spread.cp * (spread.dp or 1)
    yield Demand(
        dimension="pp",
        operation=Operation.SEND_RECV,
        group=next_stage(stage_gpus, spread.pp, domain),
        # Each tensor-parallel rank sends its own slice (scatter/gather of SC'21).
        size_bytes=tokens_of(job) * job.model.hidden * ACTIVATION_BYTES / spread.tp,
        calls=2 * micro_batches(job) * spread.virtual_stages,
    )


def next_stage(stage_gpus: int, stages: int, domain: int) -> Group:
    """Return two ranks of neighbouring stages, where the slowest pair of the pipeline lies.

    Ranks of one stage are packed side by side, so the next stage begins stage_gpus further:
    in another domain, unless the whole pipeline fits into one.

    >>> next_stage(64, 4, 8)
    Group(ranks=2, ranks_per_domain=1, neighbours=8, stride=8)
    >>> next_stage(2, 4, 8)
    Group(ranks=2, ranks_per_domain=2, neighbours=2, stride=1)
    """
    if stage_gpus * stages <= domain:
        return Group(ranks=2, ranks_per_domain=2, neighbours=max(1, stage_gpus))
    return Group(
        ranks=2,
        ranks_per_domain=1,
        neighbours=min(stage_gpus, domain),
        stride=max(1, stage_gpus // domain),
    )


def _expert(job: Job, domain: int) -> Iterator[Demand]:
    spread, model = spread_of(job), job.model
    if spread.ep == 1 or model.experts is None:
        return
    group = group_of(spread.ep, 1, domain)
    copies = _copies(model.experts.experts_per_token, spread, group)
    tokens = tokens_of(job) / spread.tp * copies
    layers = stage_layers(model, spread) * model.sparse_layers / model.layers
    yield Demand(
        dimension="ep",
        operation=Operation.ALL_TO_ALL,
        group=group,
        size_bytes=tokens * model.hidden * ACTIVATION_BYTES * model.experts.capacity_imbalance,
        # Dispatch and combine, forward and backward.
        calls=2 * layers * micro_batches(job) * (_forward_passes(job) + 1),
    )


def _copies(chosen: int, spread: Parallelism, group: Group) -> float:
    """Return how many times a token is sent: D (1 - (1 - 1 / D)^k) of D domains hold its k."""
    domains = group.domains
    if spread.dispatch == "copies" or domains == 1:
        return chosen
    return domains * (1 - (1 - 1 / domains) ** chosen)


def _data(job: Job, domain: int) -> Iterator[Demand]:
    spread, model = spread_of(job), job.model
    ranks = (spread.dp or 1) * spread.cp
    dense = dense_parameters(model, spread)
    experts = expert_parameters(model, spread)
    if spread.ep == 1:
        yield from _replicas(job, dense + experts, ranks, spread.tp, domain)
        return
    yield from _replicas(job, dense, ranks, spread.tp, domain)
    yield from _replicas(job, experts, ranks * spread.tp // spread.ep, spread.ep, domain)


def _replicas(
    job: Job, parameters: float, ranks: int, stride: int, domain: int
) -> Iterator[Demand]:
    """Yield what keeps ``ranks`` copies (or shards) of some parameters in step."""
    if ranks <= 1 or parameters == 0:
        return
    sharding = spread_of(job).sharding
    if sharding == "hsdp":
        yield from _hybrid(job, parameters, ranks, stride, domain)
    elif sharding == "zero3":
        yield from _sharded(job, parameters, group_of(ranks, stride, domain))
    else:
        yield from _reduced(job, parameters, group_of(ranks, stride, domain))


def _reduced(job: Job, parameters: float, group: Group) -> Iterator[Demand]:
    trained = parameters * job.model.trainable_ratio
    buckets = max(1.0, trained // max(BUCKET_PARAMETERS, 1_000_000 * group.ranks))
    gradients = trained * gradient_bytes(job) / buckets
    if spread_of(job).sharding == "none":
        pairs = [(Operation.ALL_REDUCE, gradients)]
    else:
        gathered = trained * ACTIVATION_BYTES / buckets
        pairs = [(Operation.REDUCE_SCATTER, gradients), (Operation.ALL_GATHER, gathered)]
    for operation, size in pairs:
        yield Demand(
            dimension="dp", operation=operation, group=group, size_bytes=size, calls=buckets
        )


def _sharded(job: Job, parameters: float, group: Group) -> Iterator[Demand]:
    spread = spread_of(job)
    units = stage_layers(job.model, spread)
    # With a pipeline, parameters stay gathered from the first micro-batch to the last.
    rounds = micro_batches(job) if spread.pp == 1 else 1
    gathers = 2 if spread.pp == 1 else 1
    trained = parameters * job.model.trainable_ratio
    for operation, size, calls in (
        (Operation.ALL_GATHER, parameters * ACTIVATION_BYTES, units * rounds * gathers),
        (Operation.REDUCE_SCATTER, trained * gradient_bytes(job), units * rounds),
    ):
        yield Demand(
            dimension="dp", operation=operation, group=group, size_bytes=size / units,
            calls=calls,
        )  # fmt: skip


def _hybrid(
    job: Job, parameters: float, ranks: int, stride: int, domain: int
) -> Iterator[Demand]:
    shards = min(spread_of(job).shard_ranks or domain, ranks)
    if shards > 1:
        yield from _sharded(job, parameters, group_of(shards, stride, domain))
    if ranks > shards:
        trained = parameters * job.model.trainable_ratio
        yield Demand(
            dimension="dp",
            operation=Operation.ALL_REDUCE,
            group=group_of(ranks // shards, stride * shards, domain),
            size_bytes=trained * gradient_bytes(job) / shards,
            calls=1,
        )
