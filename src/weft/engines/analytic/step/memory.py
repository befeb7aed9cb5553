"""Memory of the fullest GPU: weights, gradients, optimiser state, activations.

Activations of one transformer layer follow equations 1 to 4 of [Korthikanti 2022]; with
GPT's shapes (feed-forward of 4 h, sequence parallelism over t)::

    s b h (34 + 5 a s / h) / t      nothing recomputed, unfused attention
    s b h 34 / t                    selective recomputation, or fused attention
    s b h 2 / t                     full recomputation
"""

from typing import Final

from weft import catalogue
from weft.spec.cluster import Cluster
from weft.spec.workload import Job
from weft.traffic.demand import (
    dense_parameters,
    expert_parameters,
    key_value_width,
    micro_batches,
    spread_of,
    stage_layers,
    tokens_of,
)

LOW_PRECISIONS: Final = frozenset({"fp8", "mxfp8", "fp6", "fp4", "nvfp4"})
"""Precisions whose operands are kept in (at most) one byte."""
RESERVE_BYTES: Final = 4.0e9
"""CUDA context, NCCL buffers, workspaces and fragmentation of one GPU."""
WEIGHT_BYTES: Final = 2
STATE_BYTES: Final = {"fp32": 12, "bf16": 4}
"""Both moments of Adam, and a 32-bit weight beside moments of 32 bits [Rajbhandari 2020,
section 3.1]; moments of 16 bits update the weight itself."""


def gpu_memory_bytes(cluster: Cluster) -> float:
    """Return the memory of one GPU of a cluster."""
    return catalogue.find("gpus", cluster.host.gpu).memory_bytes.value


def powers_of_two(limit: int) -> list[int]:
    """Return the powers of two up to a limit: the widths that searches try."""
    return [2**n for n in range(limit.bit_length())]


def memory_bytes(job: Job) -> dict[str, float]:
    """Return the memory of the fullest GPU by what it holds."""
    spread, model = spread_of(job), job.model
    dense = dense_parameters(model, spread)
    experts = expert_parameters(model, spread)
    dense_ranks = (spread.dp or 1) * spread.cp
    if spread.sharding == "hsdp":
        dense_ranks = min(dense_ranks, spread.shard_ranks or 8)
    expert_ranks = dense_ranks
    if spread.ep > 1:
        expert_ranks = max(1, dense_ranks * spread.tp // spread.ep)
    total = dense + experts
    shards = dense / dense_ranks + experts / expert_ranks
    fully = spread.sharding in {"zero3", "hsdp"}
    one_layer = 2 * total / stage_layers(model, spread)
    gathered = one_layer if spread.pp == 1 else total
    trained = model.trainable_ratio
    halved = spread.sharding == "zero2"
    summed = 4 if job.framework == "megatron" and job.optimizer_states == "fp32" else 2
    gradient = job.gradient_bytes or summed
    state = STATE_BYTES[job.optimizer_states]
    return {
        "weights": (2 * shards + gathered if fully else total) * WEIGHT_BYTES,
        "gradients": gradient * trained * (shards if fully or halved else total),
        "optimizer": state * trained * (total if spread.sharding == "none" else shards),
        "activations": activation_bytes(job),
        "reserve": RESERVE_BYTES,
    }


def activation_bytes(job: Job) -> float:
    """Return the activations that the first pipeline stage holds at its fullest.

    With 1F1B it holds p micro-batches; interleaving adds (p - 1) / (p v) of that, and
    GPipe holds all of them, which is the most there can be.
    """
    spread, model = spread_of(job), job.model
    layers: float = stage_layers(model, spread)
    count = micro_batches(job)
    held: float = layers * min(spread.pp, count)
    if model.layers % spread.pp:
        # The outer stages have a layer less, so that embedding and head find room.
        held = max((layers - 1) * min(spread.pp, count), layers * min(spread.pp - 1, count))
    if spread.schedule == "gpipe":
        held = layers * count
    extra = 1.0
    if spread.virtual_stages > 1:
        extra += (spread.pp - 1) / (spread.pp * spread.virtual_stages)
    kept = layer_activation_bytes(job) * min(held * extra, layers * count)
    logits = tokens_of(job) * job.model.vocab / spread.tp * 6 if spread.pp == 1 else 0.0
    one_layer = layer_activation_bytes(job.with_(recompute="none"))
    return kept + logits + (one_layer if job.recompute == "full" else 0.0)


def layer_activation_bytes(job: Job) -> float:
    """Return the activations kept of one layer and one micro-batch on one GPU."""
    model, spread, tokens = job.model, spread_of(job), tokens_of(job)
    split = spread.tp if spread.sequence_parallel else 1
    if job.recompute == "full":
        return 2 * tokens * model.hidden / split
    # Inputs of norms and products 8 h, and masks of dropout 2 h; then what tp divides.
    outside = (10 if job.attention == "unfused" else 8) * model.hidden / split
    width = model.heads * model.head_dim
    inside: float = 2 * width + 2 * (width + key_value_width(model))
    mla = model.latent_attention
    if mla is not None and job.recompute == "selective":
        # Queries, keys and values are projected up again from what they are compressed to,
        # and both norms are taken again [DeepSeek-V3, section 3.2.3].
        inside = 2 * width
        outside -= 4 * model.hidden / split
        outside += 2 * (mla.q_lora_rank + mla.kv_lora_rank + mla.qk_rope_head_dim)
    dense = model.experts.shared_width if model.experts else model.ffn_hidden
    inside += (3 if model.gated_ffn else 2) * 2 * dense
    scores = 0.0
    if job.attention == "unfused" and job.recompute == "none":
        scores = 5 * model.heads * job.sequence_length
    return tokens * (outside + (inside + scores + _copies_bytes(job)) / spread.tp)


def _copies_bytes(job: Job) -> float:
    """Return what the routed copies of one token keep.

    The inputs of both products as they are multiplied, and in 16 bits what the activation
    reads; weights of the router are applied before the second product.
    """
    experts = job.model.experts
    if experts is None:
        return 0.0
    kept = 1 if job.precision in LOW_PRECISIONS else 2
    read = (2 if job.model.gated_ffn else 1) * 2 * experts.ffn_hidden
    inputs = kept * (job.model.hidden + experts.ffn_hidden)
    return experts.experts_per_token * (inputs + read)
