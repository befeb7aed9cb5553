"""Bytes of an inference service on one GPU: weights, key-value cache, reserve.

Key-value cache of one token and one layer::

    grouped queries     2 k d c             k key-value heads of width d, c bytes an element
    latent attention    (r + p) c           rank r, rotated part p [DeepSeek-V2, section 2.1]

Grouped heads are split over tensor parallelism as far as there are heads; the latent cache is
held whole by every rank.
"""

from weft.engines.analytic.step.memory import RESERVE_BYTES
from weft.spec.inference import Inference
from weft.traffic.serving import BYTES, spread_of, stage_layers

KV_BYTES = {"bf16": 2.0, "fp8": 1.0}


def kv_token_bytes(service: Inference) -> float:
    """Return the key-value cache of one token and one layer on one GPU."""
    model, tp = service.model, spread_of(service).tp
    element = KV_BYTES[service.kv_precision]
    mla = model.latent_attention
    if mla is not None:
        return (mla.kv_lora_rank + mla.qk_rope_head_dim) * element
    return 2 * max(1.0, model.kv_heads / tp) * model.head_dim * element


def attended(service: Inference, context: float) -> float:
    """Return the tokens of a context that one query reads, on average over the layers."""
    model = service.model
    if model.window is None or model.window >= context:
        return context
    share = model.full_attention_ratio
    return share * context + (1 - share) * model.window


def local_experts(service: Inference) -> float:
    """Return the routed experts of one layer that a GPU holds, whole or its share of each."""
    experts = service.model.experts
    assert experts is not None
    spread = spread_of(service)
    return experts.experts / (spread.tp if spread.ep == 1 else spread.ep)


def layer_weight_bytes(service: Inference, *, sparse: bool, touched: float = 1.0) -> float:
    """Return the weights of one layer on one GPU; of routed experts the share touched."""
    model, tp = service.model, spread_of(service).tp
    count = model.attention_parameters / tp
    if sparse:
        count += model.shared_expert_parameters / tp
        count += touched * local_experts(service) * model.expert_parameters
    else:
        count += model.dense_ffn_parameters / tp
    return count * BYTES[service.precision]


def memory_bytes(service: Inference) -> dict[str, float]:
    """Return the memory of the fullest GPU: every sequence at its full length."""
    spread, model = spread_of(service), service.model
    sparse = stage_layers(service) * model.sparse_layers / model.layers
    dense = stage_layers(service) - sparse
    weights = dense * layer_weight_bytes(service, sparse=False)
    if sparse:
        weights += sparse * layer_weight_bytes(service, sparse=True)
    ends = 1 if spread.pp == 1 else 0.5  # embedding and head lie on different stages
    weights += ends * model.embedding_parameters * 2 / spread.tp
    length = attended(service, service.prompt_tokens + service.output_tokens)
    sequences = -(-service.sequences // (spread.dp or 1))
    cache = sequences * length * kv_token_bytes(service) * stage_layers(service)
    return {"weights": weights, "kv_cache": cache, "reserve": RESERVE_BYTES}
