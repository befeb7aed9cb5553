"""Time of one layer of a forward pass on one GPU: a roofline of rates and bytes.

For a pass of t tokens through weights of N parameters (b bytes each) on one GPU::

    matrix     max(2 t N / F, N b / M)        F: matrix rate reached, M: memory rate reached
    attention  max(2 t a w / A, t a v / M)    a: keys a query attends to, w: width of scores and
                                              values, v: cache bytes of a token; for a prompt
                                              the keys are read once, not once for each query
    passes     t e 2 / M                      e: elements that norms and residuals move

[Pope 2022, sections 2 and 3]. Of E routed experts on a GPU, T tokens of which each picks k of
all n experts touch E (1 - (1 - k/n)^T): only their weights are read.
"""

from dataclasses import replace

from weft import catalogue
from weft.engines.analytic.inference.memory import (
    attended,
    kv_token_bytes,
    layer_weight_bytes,
    local_experts,
)
from weft.engines.analytic.step.compute import Device, Times, as_measured, device
from weft.engines.analytic.step.constants import constants
from weft.spec.cluster import Cluster
from weft.spec.inference import Inference
from weft.traffic.demand import ACTIVATION_BYTES
from weft.traffic.serving import BYTES, Pass, spread_of

PASSED_WIDTHS = 10
"""Widths of the model that norms, residuals and casts of one layer read and write a token."""
SOFTWARE = "megatron"
"""Class of software whose fitted matrix and attention rates stand for tuned kernels."""


def device_of(cluster: Cluster, service: Inference, *, matrix: float, stream: float) -> Device:
    """Return the cluster's GPU, with rates moved by two ratios of the inference model."""
    gpu = catalogue.find("gpus", cluster.host.gpu)
    fitted = constants()
    software = fitted.software[SOFTWARE]
    on = device(gpu, service.precision, fitted, software)
    on = as_measured(on, cluster.overlay, service.precision)
    return replace(
        on,
        flop_per_s=on.flop_per_s * matrix,
        attention_flop_per_s=on.attention_flop_per_s * matrix,
        memory_bytes_per_s=on.memory_bytes_per_s * software.passes * stream,
    )


def touched_ratio(service: Inference, tokens: float) -> float:
    """Return the share of routed experts that any of some tokens picks."""
    experts = service.model.experts
    assert experts is not None
    missed: float = (1 - experts.experts_per_token / experts.experts) ** tokens
    return 1 - missed


def group_tokens(service: Inference, one: Pass) -> float:
    """Return the tokens that meet the experts of one expert-parallel group."""
    spread = spread_of(service)
    return one.tokens * max(1, spread.ep // spread.tp)


def layer_times(
    service: Inference, one: Pass, context: float, on: Device, *, sparse: bool, prompt: bool
) -> Times:
    """Return the time of one layer without its communication and kernel starts.

    ``context`` is the length that queries look back on.
    """
    model, tp = service.model, spread_of(service).tp
    matrix_s = _product_s(service, one.tokens, _dense_parameters(service, sparse=sparse), on)
    if sparse:
        matrix_s += _experts_s(service, one, on)
    elements = PASSED_WIDTHS * model.hidden + 3 * _width(service, sparse=sparse) / tp
    return Times(
        matrix_s=matrix_s,
        attention_s=_attention_s(service, one, context, on, prompt=prompt),
        memory_s=one.tokens * elements * ACTIVATION_BYTES / on.memory_bytes_per_s,
    )


def head_s(service: Inference, sequences: float, on: Device) -> float:
    """Return the time of the vocabulary head for one token of each sequence, in 16 bits."""
    count = service.model.vocab * service.model.hidden / spread_of(service).tp
    half = on.flop_per_s * BYTES[service.precision] / ACTIVATION_BYTES
    return max(2 * sequences * count / half, count * ACTIVATION_BYTES / on.memory_bytes_per_s)


def _dense_parameters(service: Inference, *, sparse: bool) -> float:
    whole = layer_weight_bytes(service, sparse=sparse, touched=0.0)
    return whole / BYTES[service.precision]


def _product_s(service: Inference, tokens: float, parameters: float, on: Device) -> float:
    read_s = parameters * BYTES[service.precision] / on.memory_bytes_per_s
    return max(2 * tokens * parameters / on.flop_per_s, read_s)


def _experts_s(service: Inference, one: Pass, on: Device) -> float:
    model, spread = service.model, spread_of(service)
    experts = model.experts
    assert experts is not None
    tokens = group_tokens(service, one)
    held = local_experts(service) * model.expert_parameters
    read = held * touched_ratio(service, tokens) * BYTES[service.precision]
    ranks = spread.tp if spread.ep == 1 else spread.ep
    routed = tokens * experts.experts_per_token * experts.capacity_imbalance / ranks
    flops = 2 * routed * model.expert_parameters
    ratio = constants().grouped_ratio
    return max(flops / (on.flop_per_s * ratio), read / on.memory_bytes_per_s)


def _attention_s(
    service: Inference, one: Pass, context: float, on: Device, *, prompt: bool
) -> float:
    model, tp = service.model, spread_of(service).tp
    if prompt:
        keys = model.mean_attended(round(context))
        read = kv_token_bytes(service) * context
    else:
        keys = attended(service, context)
        read = kv_token_bytes(service) * keys * one.tokens
    flops = 2 * one.tokens * keys * _score_width(service, prompt=prompt) / tp
    return max(flops / on.attention_flop_per_s, read / on.memory_bytes_per_s)


def _score_width(service: Inference, *, prompt: bool) -> float:
    """Return the width of scores and values of all heads.

    Decode with latent attention multiplies queries with the compressed cache itself
    (absorbed projections) [DeepSeek-V2, section 2.1.2].
    """
    model, mla = service.model, service.model.latent_attention
    if mla is None or prompt:
        return model.attention_width
    return model.heads * (2 * mla.kv_lora_rank + mla.qk_rope_head_dim)


def _width(service: Inference, *, sparse: bool) -> float:
    model, experts = service.model, service.model.experts
    if not sparse or experts is None:
        return model.ffn_hidden
    return experts.experts_per_token * experts.ffn_hidden
