"""NVLSTree: NVLink switches reduce inside a host, a double binary tree joins the hosts."""

from weft.engines.analytic.collective.algorithm import (
    CollectiveAlgorithm,
    Limits,
    base_s,
    levels,
    measured,
    nccl_bus_bytes_per_s,
    nccl_local_step_s,
    nccl_net_step_s,
    net_available,
    net_step_s,
    volume,
)
from weft.engines.analytic.collective.algorithms.nvls import (
    no_switch,
    nvls_inside_bytes_per_s,
    scale_up_algbw,
)
from weft.engines.analytic.collective.algorithms.tree import net_volume
from weft.engines.analytic.collective.graph import Graphs
from weft.engines.analytic.collective.path import Path
from weft.traffic.collective import Operation


def _refusal(path: Path, operation: Operation) -> str:  # noqa: ARG001 - one signature
    return "one domain only" if path.domains == 1 else no_switch(path)


def _nccl_latency(path: Path, operation: Operation, protocol: str) -> float:  # noqa: ARG001
    rules = path.tuning.rules
    base = path.tuning.base_s["nvls_tree"][protocol]
    local = nccl_local_step_s(path, "nvls_tree", protocol)
    hops = path.domains - 1 if rules.nvls_tree_linear else levels(path.domains)
    return base + local + 2 * hops * nccl_net_step_s(path, "nvls_tree", protocol)


def _nccl_algbw(path: Path, graphs: Graphs, operation: Operation, protocol: str) -> float:  # noqa: ARG001
    rules, graph = path.tuning.rules, graphs.nvls
    if rules.nvls_law == "efficiency":
        ceiling = path.tuning.channel_nvls_tree_bytes_per_s[path.table_class][path.scale_index]
        inside = 2 * nvls_inside_bytes_per_s(path, graph)
        inter = graph.inter_bytes_per_s * (2 if path.few_domains else 1)
        found = graph.channels * min(inside, inter, ceiling)
        return found / volume(operation, path.ranks)
    if rules.nvls_law == "whole":
        bus = nccl_bus_bytes_per_s(path, graph)
        return bus * rules.nvls_tree_ratio_of_bus * path.domains / (2 * (path.domains - 1))
    inter = graph.inter_bytes_per_s / (1 if path.few_domains else 2)
    bus = graph.channels * min(graph.intra_bytes_per_s, inter)
    return bus * rules.nvls_tree_ratio_of_bus


def _latency(path: Path, operation: Operation, protocol: str) -> float:  # noqa: ARG001
    base = base_s(path, "nvls_tree", protocol)
    local = measured(path).step_s[path.link]["nvls_tree"][protocol]
    local *= path.const("nvls_step")
    net = net_step_s(path, "nvls_tree", protocol)
    return base + local + 2 * levels(path.domains) * net


def _limits(path: Path, graphs: Graphs, operation: Operation, protocol: str) -> Limits:  # noqa: ARG001
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
    corrected_below=24,
)
