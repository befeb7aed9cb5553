"""The inference service as it is asked about: model, requests at once, how it is spread."""

from typing import Annotated, Literal

from pydantic import Tag

from weft.spec.base import Part
from weft.spec.quantities import Count, Time
from weft.spec.workload import AUTO, Model, Precision


class ServingParallelism(Part):
    """How a model is served. A replica of the attention takes tp x pp GPUs."""

    tp: Count = 1
    """Tensor parallelism: every layer split over this many GPUs."""
    pp: Count = 1
    """Pipeline parallelism: stages, with as many micro-batches of sequences in flight."""
    ep: Count = 1
    """Expert parallelism, over the tensor- and data-parallel GPUs of one stage."""
    dp: Count | None = None
    """Data parallelism: replicas of the attention; none: what remains."""
    overlap_ep: bool = False
    """Two halves of a batch take turns: the experts' exchange of one hides behind the other."""


ServingSpread = Annotated[
    Annotated[ServingParallelism, Tag("as a mapping")]
    | Annotated[Literal["auto"], Tag("as a word")],
    AUTO,
]
"""How a model is served, or ``auto``."""


class Inference(Part):
    """One inference service in steady state: requests of one shape, batched continuously."""

    name: str = "inference"
    model: Model
    parallelism: ServingSpread = "auto"
    """How the model is spread over the GPUs; auto: weft searches."""
    precision: Precision = "bf16"
    """Of weights and matrix products: fp32, tf32, fp16, bf16, fp8, mxfp8, fp6, fp4 or nvfp4."""
    kv_precision: Literal["bf16", "fp8"] = "bf16"
    """Of the key-value cache: bf16 or fp8."""
    prompt_tokens: Count = 2048
    """Tokens of a prompt."""
    output_tokens: Count = 512
    """Tokens generated for a request."""
    sequences: Count
    """Requests served at the same time over the whole service."""
    expert_exchange: Literal["one_sided", "nccl"] = "one_sided"
    """How tokens reach their experts: RDMA writes of the GPUs (DeepEP and similar kernels) or
    NCCL's all-to-all."""
    cuda_graphs: bool = True
    """Decode steps are replayed as CUDA graphs: the CPU never holds up the GPU."""
    first_token_s: Time | None = None
    """Longest time to the first token; none: no limit."""
    token_s: Time | None = None
    """Longest time per output token; none: no limit."""
    gpus: Count | None = None
    """GPUs of the service; none: all of the cluster."""
