"""NVLSTree: NVLink switches reduce inside a host, a double binary tree joins the hosts."""

from weft.engines.analytic.collective.algorithm import (
    CollectiveAlgorithm,
    Limits,
    Use,
    levels,
    measured,
    volume,
)
from weft.engines.analytic.collective.algorithms.nvls import (
    no_switch,
    nvls_inside_bytes_per_s,
    scale_up_algbw,
)
from weft.engines.analytic.collective.algorithms.tree import net_volume
from weft.engines.analytic.collective.path import Path
from weft.traffic.collective import Operation


def _refusal(path: Path, _operation: Operation) -> str:
    return "one domain only" if path.domains == 1 else no_switch(path)


def _nccl_latency(use: Use) -> float:
    linear, domains = use.path.tuning.rules.nvls_tree_linear, use.path.domains
    hops = domains - 1 if linear else levels(domains)
    start_s = use.base_s("nvls_tree") + use.local_step_s("nvls_tree")
    return start_s + 2 * hops * use.net_step_s("nvls_tree")


def _nccl_algbw(use: Use) -> float:
    path, rules, graph = use.path, use.path.tuning.rules, use.graphs.nvls
    if rules.nvls_law == "efficiency":
        ceiling = path.tuning.channel_nvls_tree_bytes_per_s[path.table_class][path.scale_index]
        inside = 2 * nvls_inside_bytes_per_s(path, graph)
        inter = graph.inter_bytes_per_s * (2 if path.few_domains else 1)
        found = graph.channels * min(inside, inter, ceiling)
        return found / volume(use.operation, path.ranks)
    if rules.nvls_law == "whole":
        bus = use.bus_bytes_per_s(graph)
        return bus * rules.nvls_tree_ratio_of_bus * path.domains / (2 * (path.domains - 1))
    inter = graph.inter_bytes_per_s / (1 if path.few_domains else 2)
    bus = graph.channels * min(graph.intra_bytes_per_s, inter)
    return bus * rules.nvls_tree_ratio_of_bus


def _latency(use: Use) -> float:
    local = measured(use.path).step_s[use.path.link]["nvls_tree"][use.protocol]
    local *= use.path.const("nvls_step")
    hops_s = 2 * levels(use.path.domains) * use.net_step_s("nvls_tree")
    return use.base_s("nvls_tree") + local + hops_s


def _limits(use: Use) -> Limits:
    path = use.path
    return {
        "NVLink": scale_up_algbw(path, use.operation) * path.fitted("nvls_tree_inside", 0.95),
        use.beyond: use.net_bytes_per_s("nvls_tree") / net_volume(path.domains),
    }


nvls_tree = CollectiveAlgorithm(
    name="nvls_tree",
    title="NVLSTree",
    operations=frozenset({Operation.ALL_REDUCE}),
    refusal=_refusal,
    nccl_latency_s=_nccl_latency,
    nccl_algbw_bytes_per_s=_nccl_algbw,
    latency_s=_latency,
    limits=_limits,
    corrected_below=24,
)
