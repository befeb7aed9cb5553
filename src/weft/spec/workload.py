"""The job as it is asked about: model, parallelism, precision, batches."""

from typing import Annotated, Final, Literal

from pydantic import Discriminator, Field, Tag

from weft.spec.base import Part
from weft.spec.quantities import Count, Whole

Precision = Literal["fp32", "tf32", "fp16", "bf16", "fp8", "mxfp8", "fp6", "fp4", "nvfp4"]


class LatentAttention(Part):
    """Multi-head latent attention (MLA) as DeepSeek-V2 and V3 define it."""

    q_lora_rank: Whole = 0
    """0: queries are projected directly."""
    kv_lora_rank: Count
    """Rank that keys and values are compressed to."""
    qk_nope_head_dim: Count
    """Width of a query or key head without rotation."""
    qk_rope_head_dim: Count
    """Width of its part with rotation."""
    v_head_dim: Count
    """Width of a value head."""


class Experts(Part):
    """Mixture of experts."""

    experts: Count
    """Routed experts of one layer."""
    experts_per_token: Count
    """Routed experts that one token meets."""
    ffn_hidden: Count
    """Inner width of one expert."""
    shared_experts: Whole = 0
    """Experts that every token meets."""
    shared_ffn_hidden: Whole = 0
    """Inner width of all shared experts together; 0: shared_experts x ffn_hidden."""
    dense_layers: Whole = 0
    """First layers that are dense."""
    every: Count = 1
    """One layer in this many is sparse."""
    capacity_imbalance: Annotated[float, Field(ge=1)] = 1.0
    """Load of the busiest expert over the mean; 1 is balanced."""

    @property
    def shared_width(self) -> int:
        """Inner width of all shared experts together."""
        return self.shared_ffn_hidden or self.shared_experts * self.ffn_hidden


class Model(Part):
    """A transformer, as its Hugging Face config.json describes it."""

    name: str = "model"
    layers: Count
    """Transformer layers."""
    hidden: Count
    """Width of the model."""
    heads: Count
    """Query heads."""
    kv_heads: Count
    """Key-value heads; as many as heads without grouping."""
    head_dim: Count
    """Width of one head."""
    ffn_hidden: Count
    """Inner width of a dense feed-forward part."""
    vocab: Count
    """Entries of the vocabulary, with padding."""
    gated_ffn: bool = True
    """Three matrices (SwiGLU) instead of two."""
    tied_embeddings: bool = False
    """The output head is the token embedding."""
    causal: bool = True
    """A token sees only those before it."""
    latent_attention: LatentAttention | None = None
    """Multi-head latent attention; none: grouped queries."""
    experts: Experts | None = None
    """Mixture of experts; none: every layer is dense."""
    window: Count | None = None
    """Sliding-window attention; none: full."""
    full_attention_every: Whole = 0
    """With a window: one layer in this many attends to everything; 0: none does."""
    positions: Whole = 0
    """Learned position embeddings; 0: rotary or none."""
    trainable_ratio: Annotated[float, Field(gt=0, le=1)] = 1.0
    """Share of parameters with gradients: below 1 for LoRA and frozen parts."""

    @property
    def sparse_layers(self) -> int:
        """Layers whose feed-forward part is a mixture of experts."""
        if self.experts is None:
            return 0
        return (self.layers - self.experts.dense_layers) // self.experts.every

    @property
    def attention_width(self) -> int:
        """Width of scores and of values together, over all heads."""
        mla = self.latent_attention
        if mla is None:
            return 2 * self.heads * self.head_dim
        return self.heads * (mla.qk_nope_head_dim + mla.qk_rope_head_dim + mla.v_head_dim)

    @property
    def full_attention_ratio(self) -> float:
        """Share of the layers that attend to everything, where others have a window."""
        every = self.full_attention_every
        return (self.layers // every) / self.layers if every else 0.0

    @property
    def attention_parameters(self) -> int:
        """Weights of one attention layer.

        With grouped queries (heads a, key-value heads k, head width d, hidden h)::

            h a d  (queries)  +  2 h k d  (keys, values)  +  a d h  (output)

        and with latent attention [DeepSeek-V2, section 2.1] (ranks q and c; widths n without
        and r with rotation, v of values)::

            queries  h q + q a (n + r), or h a (n + r) when q is 0
            keys and values  h (c + r) + c a (n + v);  output  a v h
        """
        mla = self.latent_attention
        if mla is None:
            return self.hidden * self.head_dim * 2 * (self.heads + self.kv_heads)
        query_width = self.heads * (mla.qk_nope_head_dim + mla.qk_rope_head_dim)
        rank = mla.q_lora_rank
        queries = rank * (self.hidden + query_width) if rank else self.hidden * query_width
        up = self.heads * (mla.qk_nope_head_dim + mla.v_head_dim)
        keys_values = self.hidden * (mla.kv_lora_rank + mla.qk_rope_head_dim)
        output = self.heads * mla.v_head_dim * self.hidden
        return queries + keys_values + mla.kv_lora_rank * up + output

    @property
    def expert_parameters(self) -> int:
        """Weights of one routed expert: 3 h f when gated (SwiGLU), 2 h f when not."""
        return self._ffn(self.experts.ffn_hidden) if self.experts else 0

    @property
    def dense_ffn_parameters(self) -> int:
        """Weights of the feed-forward part of one dense layer."""
        return self._ffn(self.ffn_hidden)

    @property
    def shared_expert_parameters(self) -> int:
        """Weights of the shared experts and the router of one sparse layer."""
        if self.experts is None:
            return 0
        return self._ffn(self.experts.shared_width) + self.hidden * self.experts.experts

    @property
    def embedding_parameters(self) -> int:
        """Weights of the token and position embeddings, and of an untied output head."""
        matrices = 1 if self.tied_embeddings else 2
        return (matrices * self.vocab + self.positions) * self.hidden

    def parameters(self) -> int:
        """Return all weights of the model.

        ::

            N = L A  +  (L - S) F  +  S (E X + shared)  +  embeddings  +  h (2 L + 1)

        with L layers of which S are sparse, A of attention, F of a dense feed-forward part,
        E experts of X each, and two norms a layer plus the last.
        """
        return self._count(self.experts.experts if self.experts else 0)

    def active_parameters(self) -> int:
        """Return the weights that one token meets: its own experts instead of all of them."""
        return self._count(self.experts.experts_per_token if self.experts else 0)

    def mean_attended(self, sequence_length: int) -> float:
        """Return how many keys a query meets on average, over positions and layers.

        Causal: (s + 1) / 2; with a window w < s: w - w (w - 1) / (2 s).
        """
        full = (sequence_length + 1) / 2 if self.causal else float(sequence_length)
        if self.window is None or self.window >= sequence_length:
            return full
        width = self.window
        near = width - width * (width - 1) / (2 * sequence_length) if self.causal else width
        share = self.full_attention_ratio
        return share * full + (1 - share) * near

    def _ffn(self, width: int) -> int:
        return (3 if self.gated_ffn else 2) * self.hidden * width

    def _count(self, experts: int) -> int:
        sparse = self.sparse_layers
        dense = (self.layers - sparse) * self.dense_ffn_parameters
        routed = sparse * (experts * self.expert_parameters + self.shared_expert_parameters)
        norms = self.hidden * (2 * self.layers + 1)
        attention = self.layers * self.attention_parameters
        return attention + dense + routed + norms + self.embedding_parameters


class Parallelism(Part):
    """How the job is spread. ``dp`` is what remains when it is not given."""

    tp: Count = 1
    """Tensor parallelism."""
    sequence_parallel: bool = True
    """Norms and dropout are split as well (all-gather and reduce-scatter)."""
    cp: Count = 1
    """Context parallelism: a sequence over several GPUs."""
    pp: Count = 1
    """Pipeline parallelism: stages."""
    virtual_stages: Count = 1
    """Model chunks of one pipeline rank; above 1 the schedule interleaves."""
    schedule: Literal["1f1b", "interleaved", "zero_bubble", "gpipe"] = "1f1b"
    """1f1b, interleaved, zero_bubble or gpipe."""
    ep: Count = 1
    """Expert parallelism."""
    dp: Count | None = None
    """Data parallelism; none: what remains."""
    sharding: Literal["none", "zero1", "zero2", "zero3", "hsdp"] = "zero1"
    """Over data-parallel ranks: optimiser (1), gradients (2), parameters (3, FSDP)."""
    shard_ranks: Count | None = None
    """HSDP: ranks that share one copy of the parameters."""
    uneven_stages: bool = False
    """Layers need not divide by the stages: the fullest holds the ceiling of their ratio."""
    overlap_dp: bool = True
    """Gradient and parameter exchange behind computation."""
    overlap_tp: bool = False
    """Tensor-parallel exchange behind computation."""
    overlap_pp: bool = True
    """Stage exchange behind computation."""
    overlap_ep: bool = False
    """Expert exchange behind computation."""
    dispatch: Literal["copies", "hosts"] = "copies"
    """What expert parallelism sends: a copy for each expert of a token (NCCL all-to-all), or
    one for each host that has any of them (DeepEP and its like)."""


AUTO: Final = Discriminator(lambda v: "as a word" if isinstance(v, str) else "as a mapping")
"""Tells ``auto`` from parallelism that is written out."""
Spread = Annotated[
    Annotated[Parallelism, Tag("as a mapping")] | Annotated[Literal["auto"], Tag("as a word")],
    AUTO,
]
"""How a job is spread, or ``auto``."""


class Job(Part):
    """One training job."""

    name: str = "job"
    model: Model
    parallelism: Spread = "auto"
    """How the job is spread over its GPUs; auto: weft searches."""
    precision: Precision = "bf16"
    """Of the matrix products: fp32, tf32, fp16, bf16, fp8, mxfp8, fp6, fp4 or nvfp4."""
    sequence_length: Count = 4096
    """Tokens of one sequence."""
    global_batch: Count
    """Sequences of one optimiser step over the whole job."""
    micro_batch: Count = 1
    """Sequences that one pipeline rank takes at a time."""
    recompute: Literal["none", "selective", "full"] = "none"
    """Activations computed again: none, selective (attention) or full."""
    gradient_bytes: Annotated[float, Field(gt=0)] | None = None
    """Bytes of one gradient element on the wire; none: as the framework does."""
    optimizer_states: Literal["fp32", "bf16"] = "fp32"
    """fp32: Adam with weights and moments of 32 bits beside weights of 16; bf16: all in 16."""
    framework: Literal["megatron", "pytorch", "fsdp", "deepspeed", "jax", "other"] = "megatron"
    """megatron (fused kernels), pytorch, fsdp, deepspeed, jax or other."""
    compile: bool = False
    """pytorch, fsdp, deepspeed: torch.compile fuses what lies between matrix products."""
    fused_norm: bool = True
    """Without compile: RMSNorm is one kernel (torch.nn.RMSNorm since PyTorch 2.9); false: it is
    written out as operations, as in Hugging Face's models."""
    attention: Literal["flash", "flash2", "flash1", "unfused"] = "flash"
    """flash: fused kernels made for the GPU (cuDNN, FlashAttention-3; PyTorch's since 2.11);
    flash2: those made for Ampere (FlashAttention-2); flash1: those of 2022; unfused: scores are
    written to memory."""
    cuda_graphs: bool = False
    """Steps are replayed as CUDA graphs: the CPU never holds up the GPU."""
    gpus: Count | None = None
    """GPUs of this job; none: all of the cluster."""
    tokens: Annotated[float, Field(gt=0)] | None = None
    """Tokens of the whole training run, for its total time and cost."""
    weight: Annotated[float, Field(gt=0)] = 1.0
    """Share of this job in the tokens that are trained, beside other jobs of a comparison."""
