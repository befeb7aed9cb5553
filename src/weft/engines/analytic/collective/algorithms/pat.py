"""PAT: parallel aggregated trees, for all-gather and reduce-scatter of one rank a host."""

from weft.engines.analytic.collective.algorithm import (
    CollectiveAlgorithm,
    Limits,
    base_s,
    levels,
    nccl_bus_bytes_per_s,
    nccl_net_step_s,
    net_available,
    net_step_s,
    volume,
)
from weft.engines.analytic.collective.graph import Graphs
from weft.engines.analytic.collective.path import Path
from weft.traffic.collective import Operation

_DEVICE_DRIVEN = frozenset({"tcpx"})
_PIPELINED = 3.5
_PER_RANK_S = 2.8e-6


def _refusal(path: Path, operation: Operation) -> str:  # noqa: ARG001 - one signature
    if path.domains == 1 or path.local > 1:
        return "more than one rank in a domain"
    if path.tuning.library != "nccl" or path.tuning.rules.pat_ratio == 0:
        return "this version has no PAT"
    if path.fabric.name in _DEVICE_DRIVEN:
        return "the network plug-in unpacks on the GPU"
    return "NCCL_PAT_ENABLE=0" if path.env.get("NCCL_PAT_ENABLE", "1") == "0" else ""


def _nccl_latency(path: Path, operation: Operation, protocol: str) -> float:  # noqa: ARG001
    net = levels(path.domains) * nccl_net_step_s(path, "pat", protocol) / _PIPELINED
    return path.tuning.base_s["pat"][protocol] + net + _PER_RANK_S * path.ranks


def _nccl_algbw(path: Path, graphs: Graphs, operation: Operation, protocol: str) -> float:  # noqa: ARG001
    return path.tuning.rules.pat_ratio * nccl_bus_bytes_per_s(path, graphs.tree)


def _latency(path: Path, operation: Operation, protocol: str) -> float:  # noqa: ARG001
    net = levels(path.domains) * net_step_s(path, "pat", protocol) / _PIPELINED
    return base_s(path, "pat", protocol) + net + _PER_RANK_S * path.ranks


def _limits(path: Path, graphs: Graphs, operation: Operation, protocol: str) -> Limits:  # noqa: ARG001
    share = volume(operation, path.ranks)
    return {
        path.fabric_limit or path.net_limit: net_available(path, "ring") / share,
        "channels": graphs.total_channels * path.channel_bytes_per_s / share,
    }


pat = CollectiveAlgorithm(
    name="pat",
    title="PAT",
    operations=frozenset({Operation.ALL_GATHER, Operation.REDUCE_SCATTER}),
    protocols=("simple",),
    refusal=_refusal,
    nccl_latency_s=_nccl_latency,
    nccl_algbw_bytes_per_s=_nccl_algbw,
    latency_s=_latency,
    limits=_limits,
)
