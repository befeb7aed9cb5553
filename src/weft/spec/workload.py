"""The job as it is asked about: model, parallelism, precision, batches."""

from typing import Annotated, Literal

from pydantic import Field, NonNegativeInt

from weft.spec.base import Part
from weft.spec.cluster import Count

Precision = Literal["fp32", "tf32", "fp16", "bf16", "fp8", "mxfp8", "fp6", "fp4", "nvfp4"]


class LatentAttention(Part):
    """Multi-head latent attention (MLA) as DeepSeek-V2 and V3 define it."""

    q_lora_rank: NonNegativeInt = 0
    """0: queries are projected directly."""
    kv_lora_rank: Count
    qk_nope_head_dim: Count
    qk_rope_head_dim: Count
    v_head_dim: Count


class Experts(Part):
    """Mixture of experts."""

    experts: Count
    experts_per_token: Count
    ffn_hidden: Count
    """Inner width of one expert."""
    shared_experts: NonNegativeInt = 0
    shared_ffn_hidden: NonNegativeInt = 0
    """Inner width of all shared experts together; 0: shared_experts x ffn_hidden."""
    dense_layers: NonNegativeInt = 0
    """First layers that are dense."""
    every: Count = 1
    """One layer in this many is sparse."""
    capacity_imbalance: Annotated[float, Field(ge=1)] = 1.0
    """Load of the busiest expert over the mean; 1 is balanced."""


class Model(Part):
    """A transformer, as its Hugging Face config.json describes it."""

    name: str = "model"
    layers: Count
    hidden: Count
    heads: Count
    kv_heads: Count
    head_dim: Count
    ffn_hidden: Count
    vocab: Count
    gated_ffn: bool = True
    """Three matrices (SwiGLU) instead of two."""
    tied_embeddings: bool = False
    causal: bool = True
    latent_attention: LatentAttention | None = None
    experts: Experts | None = None
    window: Count | None = None
    """Sliding-window attention; none: full."""
    trainable_ratio: Annotated[float, Field(gt=0, le=1)] = 1.0
    """Share of parameters with gradients: below 1 for LoRA and frozen parts."""


class Parallelism(Part):
    """How the job is spread. ``dp`` is what remains when it is not given."""

    tp: Count = 1
    sequence_parallel: bool = True
    cp: Count = 1
    pp: Count = 1
    virtual_stages: Count = 1
    """Model chunks of one pipeline rank; above 1 the schedule interleaves."""
    schedule: Literal["1f1b", "interleaved", "zero_bubble", "gpipe"] = "1f1b"
    ep: Count = 1
    dp: Count | None = None
    sharding: Literal["none", "zero1", "zero2", "zero3", "hsdp"] = "zero1"
    """Over data-parallel ranks: optimiser (1), gradients (2), parameters (3, FSDP)."""
    shard_ranks: Count | None = None
    """HSDP: ranks that share one copy of the parameters."""
    overlap_dp: bool = True
    overlap_tp: bool = False
    overlap_pp: bool = True
    overlap_ep: bool = False


class Job(Part):
    """One training job."""

    name: str = "job"
    model: Model
    parallelism: Parallelism | Literal["auto"] = "auto"
    precision: Precision = "bf16"
    sequence_length: Count = 4096
    global_batch: Count
    """Sequences of one optimiser step over the whole job."""
    micro_batch: Count = 1
    recompute: Literal["none", "selective", "full"] = "none"
    gradient_bytes: Annotated[float, Field(gt=0)] | None = None
    """Bytes of one gradient element on the wire; none: as the framework does."""
    framework: Literal["megatron", "fsdp", "deepspeed", "jax", "other"] = "megatron"
    gpus: Count | None = None
    """GPUs of this job; none: all of the cluster."""
    tokens: Annotated[float, Field(gt=0)] | None = None
    """Tokens of the whole training run, for its total time and cost."""
