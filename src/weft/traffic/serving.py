"""What one forward pass of an inference service sends: per GPU, call by call.

Ranks are placed as serving engines place them: tensor parallelism innermost, then replicas of
the attention (data parallelism), pipeline stages outermost. Experts are spread over the
tensor- and data-parallel GPUs of one stage.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from weft.spec.inference import Inference, ServingParallelism
from weft.traffic.collective import Group, Operation
from weft.traffic.demand import ACTIVATION_BYTES, Demand, group_of, next_stage

BYTES: Final = {
    "fp32": 4.0, "tf32": 4.0, "fp16": 2.0, "bf16": 2.0, "fp8": 1.0, "mxfp8": 1.03125,
    "fp6": 0.78125, "fp4": 0.53125, "nvfp4": 0.5625,
}  # fmt: skip
"""Bytes of one weight with its share of the scales: one byte for 32 (MX formats) or 16 (NVFP4)
values."""
SCALES: Final = 1 + 4 / 128
"""Dispatched 8-bit activations carry a 32-bit scale for 128 values [DeepEP]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pass:
    """One forward pass of one attention replica: a prompt, or one token of each sequence."""

    tokens: float
    """Of one attention replica."""
    per_host: bool
    """A token is sent once to each host that has an expert of it, then copied there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """The two ways of the experts' exchange of one layer, on one GPU."""

    group: Group
    dispatch_bytes: float
    """All copies that one GPU sends, to whichever rank."""
    combine_bytes: float
    remote_ratio: float
    """Bytes that leave the domain, over those sent."""
    local_ratio: float
    """Bytes that cross the scale-up links, over those sent: copies made on a host count."""


def spread_of(service: Inference) -> ServingParallelism:
    """Return the parallelism of a service that is resolved."""
    assert isinstance(service.parallelism, ServingParallelism), "resolve the service first"
    return service.parallelism


def stage_layers(service: Inference) -> int:
    """Count the layers of the fullest pipeline stage."""
    return -(-service.model.layers // spread_of(service).pp)


def sparse_share(service: Inference) -> float:
    """Return the share of layers that are mixtures of experts."""
    return service.model.sparse_layers / service.model.layers


def demands(service: Inference, forward: Pass, gpus_per_domain: int) -> Iterator[Demand]:
    """Yield the tensor- and pipeline-parallel collectives of one pass through one stage.

    Attention and feed-forward part of each layer end in an all-reduce of tokens x hidden
    [Shoeybi 2019, section 3]; a stage sends tokens x hidden / tp to the next one.
    """
    spread, model = spread_of(service), service.model
    size_bytes = forward.tokens * model.hidden * ACTIVATION_BYTES
    if spread.tp > 1:
        yield Demand(
            dimension="tp",
            operation=Operation.ALL_REDUCE,
            group=group_of(spread.tp, 1, gpus_per_domain),
            size_bytes=size_bytes,
            calls=2 * stage_layers(service),
        )
    if spread.pp > 1:
        stage = spread.tp * (spread.dp or 1)
        yield Demand(
            dimension="pp",
            operation=Operation.SEND_RECV,
            group=next_stage(stage, spread.pp, gpus_per_domain),
            size_bytes=size_bytes / spread.tp,
            calls=1,
        )


def exchange(service: Inference, one: Pass, gpus_per_domain: int) -> Exchange | None:
    """Return the experts' exchange of one layer; none where no token leaves its GPU.

    A GPU dispatches tokens / tp, each to the experts that its router picks (k copies, or one
    for each of the D (1 - (1 - 1/D)^k) hosts that hold any), and receives as many back. With
    ep = tp every GPU of the group has all tokens already and an all-reduce combines them.
    """
    spread, model = spread_of(service), service.model
    if model.experts is None or spread.ep <= spread.tp:
        return None
    group = group_of(spread.ep, 1, gpus_per_domain)
    chosen = float(model.experts.experts_per_token)
    copies, remote = chosen, 1 - group.ranks_per_domain / group.ranks
    local = 1 - remote
    if one.per_host and group.domains > 1:
        copies = group.domains * (1 - (1 - 1 / group.domains) ** chosen)
        local = chosen / copies
    sent = one.tokens / spread.tp * copies * model.experts.capacity_imbalance * model.hidden
    low = BYTES[service.precision] < ACTIVATION_BYTES
    return Exchange(
        group=group,
        dispatch_bytes=sent * (SCALES if low else ACTIVATION_BYTES),
        combine_bytes=sent * ACTIVATION_BYTES,
        remote_ratio=remote,
        local_ratio=local * (1 - 1 / group.ranks_per_domain),
    )
