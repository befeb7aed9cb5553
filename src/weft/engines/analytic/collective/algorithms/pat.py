"""PAT: parallel aggregated trees, for all-gather and reduce-scatter of one rank a host."""

from weft.engines.analytic.collective.algorithm import (
    CollectiveAlgorithm,
    Limits,
    Use,
    levels,
    volume,
)
from weft.engines.analytic.collective.path import Path
from weft.traffic.collective import Operation

_DEVICE_DRIVEN = frozenset({"tcpx"})
_PIPELINED = 3.5
_PER_RANK_S = 2.8e-6


def _refusal(path: Path, _operation: Operation) -> str:
    if path.domains == 1 or path.local > 1:
        return "more than one rank in a domain"
    if path.tuning.library != "nccl" or path.tuning.rules.pat_ratio == 0:
        return "this version has no PAT"
    if path.fabric.name in _DEVICE_DRIVEN:
        return "the network plug-in unpacks on the GPU"
    return "NCCL_PAT_ENABLE=0" if path.env.get("NCCL_PAT_ENABLE", "1") == "0" else ""


def _latency(use: Use) -> float:
    net = levels(use.path.domains) * use.net_step_s("pat") / _PIPELINED
    return use.base_s("pat") + net + _PER_RANK_S * use.path.ranks


def _nccl_algbw(use: Use) -> float:
    return use.path.tuning.rules.pat_ratio * use.bus_bytes_per_s(use.graphs.tree)


def _limits(use: Use) -> Limits:
    share = volume(use.operation, use.path.ranks)
    return {
        use.beyond: use.net_bytes_per_s("ring") / share,
        "channels": use.graphs.total_channels * use.path.channel_bytes_per_s / share,
    }


pat = CollectiveAlgorithm(
    name="pat",
    title="PAT",
    operations=frozenset({Operation.ALL_GATHER, Operation.REDUCE_SCATTER}),
    refusal=_refusal,
    nccl_algbw_bytes_per_s=_nccl_algbw,
    latency_s=_latency,
    limits=_limits,
)
