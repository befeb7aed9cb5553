"""NVLSTree: NVLink switches reduce inside a host, a double binary tree joins the hosts."""

from weft.engines.analytic.collective.algorithm import (
    CollectiveAlgorithm,
    Limits,
    base_s,
    levels,
    nccl_bus_bytes_per_s,
    nccl_local_step_s,
    nccl_net_step_s,
    net_available,
    net_step_s,
    volume,
)
from weft.engines.analytic.collective.algorithms.nvls import scale_up_algbw
from weft.engines.analytic.collective.algorithms.tree import net_volume
from weft.engines.analytic.collective.graph import Graph
from weft.engines.analytic.collective.path import Path
from weft.traffic.collective import Operation

_MIN_RANKS = 3


def _refusal(path: Path, operation: Operation) -> str:  # noqa: ARG001 - one signature
    if path.domains == 1:
        return "one domain only"
    if not path.scale_up_reduces or path.table_class not in {"hopper", "blackwell"}:
        return "no NVLink switch that reduces"
    if path.env.get("NCCL_NVLS_ENABLE", "1") == "0":
        return "NCCL_NVLS_ENABLE=0"
    return "too few GPUs in the domain" if path.local < _MIN_RANKS else ""


def _nccl_latency(path: Path, operation: Operation, protocol: str) -> float:  # noqa: ARG001
    base = path.tuning.base_s["nvls_tree"][protocol]
    local = nccl_local_step_s(path, "nvls_tree", protocol)
    return (
        base + local + 2 * levels(path.domains) * nccl_net_step_s(path, "nvls_tree", protocol)
    )


def _nccl_algbw(path: Path, graph: Graph, operation: Operation, protocol: str) -> float:  # noqa: ARG001
    bus = graph.channels * graph.intra_bytes_per_s * path.tree_ratio
    inter = graph.channels * graph.inter_bytes_per_s * (2 if path.few_domains else 1)
    if path.tuning.nvls_by_efficiency:
        kept = path.tuning.nvls_ratio[path.table_class] * (1 - 1 / graph.channels)
        ceiling = path.tuning.channel_nvls_tree_bytes_per_s[path.table_class][path.scale_index]
        found = min(2 * bus * kept, inter, graph.channels * ceiling)
    else:
        found = min(2 * nccl_bus_bytes_per_s(path, graph), inter) * 5 / 6
        found = found if path.few_domains else min(found * 6 / 5, inter)
    return found / volume(operation, path.ranks)


def _latency(path: Path, operation: Operation, protocol: str) -> float:  # noqa: ARG001
    base = base_s(path, "nvls_tree", protocol)
    local = nccl_local_step_s(path, "nvls_tree", protocol) * path.const("nvls_step")
    net = net_step_s(path, "nvls_tree", protocol)
    return base + local + 2 * levels(path.domains) * net


def _limits(path: Path, graph: Graph, operation: Operation, protocol: str) -> Limits:  # noqa: ARG001
    net = net_available(path, "nvls_tree") / net_volume(path.domains)
    return {
        "NVLink": scale_up_algbw(path, operation) * path.fitted("nvls_tree_inside", 0.95),
        path.fabric_limit or path.net_limit: net,
    }


nvls_tree = CollectiveAlgorithm(
    name="nvls_tree",
    title="NVLSTree",
    operations=frozenset({Operation.ALL_REDUCE}),
    protocols=("simple",),
    refusal=_refusal,
    nccl_latency_s=_nccl_latency,
    nccl_algbw_bytes_per_s=_nccl_algbw,
    latency_s=_latency,
    limits=_limits,
    corrected=True,
)
