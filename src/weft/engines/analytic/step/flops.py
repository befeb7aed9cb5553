"""FLOP of one step: those that count for MFU, and those that are executed (HFU).

MFU counts 6 per matrix parameter that a token meets, plus the attention products at the keys
that a query really attends to (half of the square when causal)::

    F = 6 N T + 6 T L k w

N active matrix parameters (without embeddings), T tokens, L layers, k mean attended keys, w
width of scores and values together. PaLM and Megatron-LM before 2024 count the whole square:
``whole_square=True``.
"""

from weft.spec.workload import Job, Model


def matrix_parameters(model: Model) -> float:
    """Count the weights of the matrix products that one token meets."""
    norms = model.hidden * (2 * model.layers + 1)
    head = model.vocab * model.hidden
    return model.active_parameters() - norms - model.embedding_parameters + head


def model_flops(job: Job, *, whole_square: bool = False) -> float:
    """Return the useful FLOP of one step over all GPUs; frozen weights need no gradient."""
    model = job.model
    tokens = job.global_batch * job.sequence_length
    keys = (
        float(job.sequence_length) if whole_square else model.mean_attended(job.sequence_length)
    )
    passes = 6 if model.trainable_ratio > 0.5 else 4  # noqa: PLR2004 - adapters below half
    attention = 6 * model.layers * keys * model.attention_width
    return tokens * (passes * matrix_parameters(model) + attention)


def hardware_flops(job: Job) -> float:
    """Return the FLOP executed: recomputed layers counted, and what unfused masks waste."""
    model = job.model
    tokens = job.global_batch * job.sequence_length
    useful = model_flops(job, whole_square=job.attention == "unfused")
    keys = model.mean_attended(job.sequence_length)
    if job.attention == "unfused":
        keys = float(job.sequence_length)
    attention = 2 * model.layers * keys * model.attention_width * tokens
    mla = model.latent_attention
    if job.recompute == "selective" and mla is not None and job.attention != "unfused":
        heads = model.heads
        up = mla.q_lora_rank * (mla.qk_nope_head_dim + mla.qk_rope_head_dim)
        up += mla.kv_lora_rank * (mla.qk_nope_head_dim + mla.v_head_dim)
        return useful + 2 * tokens * model.layers * heads * up
    if job.recompute == "selective":
        return useful + attention
    if job.recompute == "full":
        layers = matrix_parameters(model) - model.vocab * model.hidden
        return useful + 2 * tokens * layers + attention
    return useful
