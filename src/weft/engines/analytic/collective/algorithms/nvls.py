"""NVLS: NVLink switches reduce and multicast inside a domain (with SHARP also between)."""

from weft.engines.analytic.collective.algorithm import (
    CollectiveAlgorithm,
    Limits,
    nccl_bus_bytes_per_s,
    nccl_local_step_s,
    nccl_net_step_s,
    net_available,
    net_step_s,
    volume,
)
from weft.engines.analytic.collective.graph import Graph
from weft.engines.analytic.collective.path import Path
from weft.traffic.collective import Operation

_MIN_RANKS = 3


def _refusal(path: Path, operation: Operation) -> str:  # noqa: ARG001 - one signature
    if not path.scale_up_reduces or path.table_class not in {"hopper", "blackwell"}:
        return "no NVLink switch that reduces"
    if path.env.get("NCCL_NVLS_ENABLE", "1") == "0":
        return "NCCL_NVLS_ENABLE=0"
    if path.local < _MIN_RANKS:
        return "too few GPUs in the domain"
    if path.domains > 1 and not path.network_reduces:
        return "no in-network reduction between hosts"
    return ""


def _nccl_latency(path: Path, operation: Operation, protocol: str) -> float:  # noqa: ARG001
    base = path.tuning.base_s["nvls"][protocol] + nccl_local_step_s(path, "nvls", protocol)
    return base + (nccl_net_step_s(path, "nvls", protocol) if path.domains > 1 else 0.0)


def _nccl_algbw(path: Path, graph: Graph, operation: Operation, protocol: str) -> float:  # noqa: ARG001
    bus = nccl_bus_bytes_per_s(path, graph)
    reduces = operation is Operation.ALL_REDUCE
    if path.tuning.nvls_by_efficiency:
        kept = path.tuning.nvls_ratio[path.table_class] * (1 - 1 / graph.channels)
        inside = bus * kept * (2 if reduces else (path.local - 1) / path.local)
        bus = min(inside, bus) if path.domains > 1 else inside
    elif not reduces:
        bus = bus * (path.local - 1) / path.local * (1.0 if path.domains == 1 else 0.9)
    else:
        bus = bus * 5 / 6 * 2
    return bus / volume(operation, path.ranks)


def _latency(path: Path, operation: Operation, protocol: str) -> float:  # noqa: ARG001
    local = path.tuning.base_s["nvls"][protocol] + nccl_local_step_s(path, "nvls", protocol)
    net = net_step_s(path, "nvls", protocol) if path.domains > 1 else 0.0
    return local * path.const("nvls_step") + net


def scale_up_algbw(path: Path, operation: Operation) -> float:
    """Return the algorithm bandwidth that reducing NVLink switches give inside a domain."""
    ratio = path.scale_up_const("nvls", 1.0)
    if operation is not Operation.ALL_REDUCE:
        ratio *= path.fitted("nvls_one_way", 0.8)
    return path.scale_up_bytes_per_s * ratio / volume(operation, path.local)


def _limits(path: Path, graph: Graph, operation: Operation, protocol: str) -> Limits:  # noqa: ARG001
    found = {"NVLink": scale_up_algbw(path, operation)}
    if path.domains > 1:
        found[path.fabric_limit or path.net_limit] = net_available(path, "tree") * path.const(
            "sharp", 0.485
        )
    return found


nvls = CollectiveAlgorithm(
    name="nvls",
    title="NVLS",
    operations=frozenset(
        {Operation.ALL_REDUCE, Operation.ALL_GATHER, Operation.REDUCE_SCATTER}
    ),
    protocols=("simple",),
    refusal=_refusal,
    nccl_latency_s=_nccl_latency,
    nccl_algbw_bytes_per_s=_nccl_algbw,
    latency_s=_latency,
    limits=_limits,
)
