"""NVLS: NVLink switches reduce and multicast inside a domain (with SHARP also between)."""

from weft.engines.analytic.collective.algorithm import (
    CollectiveAlgorithm,
    Limits,
    Use,
    measured,
    volume,
)
from weft.engines.analytic.collective.graph import Graph
from weft.engines.analytic.collective.path import Path
from weft.traffic.collective import Operation

_MIN_RANKS = 3


def no_switch(path: Path) -> str:
    """Say why NVLink switches do not reduce for a path; empty where they do."""
    if not path.scale_up_reduces or path.table_class not in {"hopper", "blackwell"}:
        return "no NVLink switch that reduces"
    if path.env.get("NCCL_NVLS_ENABLE", "1") == "0":
        return "NCCL_NVLS_ENABLE=0"
    return "too few GPUs in the domain" if path.local < _MIN_RANKS else ""


def _refusal(path: Path, operation: Operation) -> str:
    one_way = operation is not Operation.ALL_REDUCE
    if one_way and path.tuning.rules.nvls_one_way_ratio == 0:
        return "this version runs NVLS for all-reduce only"
    if path.domains > 1 and not path.network_reduces:
        return "no in-network reduction between hosts"
    if path.domains > 1 and one_way and path.nics < path.local:
        return "fewer NICs than GPUs"
    return no_switch(path)


def _nccl_latency(use: Use) -> float:
    base = use.base_s("nvls") + use.local_step_s("nvls")
    return base + (use.net_step_s("nvls") if use.path.domains > 1 else 0.0)


def nvls_inside_bytes_per_s(path: Path, graph: Graph) -> float:
    """Return what one channel moves over NVLinks by the library's efficiency (since 2.28).

    It uses NVLS from two channels on; with one the ratio is 0.
    """
    share = path.tuning.nvls_ratio[path.table_class] * (1 - 1 / graph.channels)
    return graph.intra_bytes_per_s * share


def _nccl_algbw(use: Use) -> float:
    path, rules, graph = use.path, use.path.tuning.rules, use.graphs.nvls
    reduces = use.operation is Operation.ALL_REDUCE
    others = (path.local - 1) / path.local
    intra, inter = graph.intra_bytes_per_s, graph.inter_bytes_per_s
    if rules.nvls_law == "efficiency":
        inside = nvls_inside_bytes_per_s(path, graph) * (2 if reduces else others)
        found = graph.channels * min(inside, inter)
        return found / volume(use.operation, path.ranks) if reduces else found
    if rules.nvls_law == "whole":
        return use.bus_bytes_per_s(graph) * rules.nvls_ratio_of_bus
    if reduces:
        return graph.channels * min(intra, inter) * rules.nvls_ratio_of_bus
    narrow = rules.nvls_one_way_narrow
    speed = min(intra * others, inter * 0.9) if narrow else min(intra, inter)
    return graph.channels * speed * rules.nvls_one_way_ratio


def _latency(use: Use) -> float:
    tables = measured(use.path)
    local = tables.base_s["nvls"][use.protocol]
    local += tables.step_s[use.path.link]["nvls"][use.protocol]
    net = use.net_step_s("nvls") if use.path.domains > 1 else 0.0
    return local * use.path.const("nvls_step") + net


def scale_up_algbw(path: Path, operation: Operation) -> float:
    """Return the algorithm bandwidth that reducing NVLink switches give inside a domain."""
    ratio = path.scale_up_const("nvls", 1.0)
    if operation is not Operation.ALL_REDUCE:
        ratio *= path.fitted("nvls_one_way", 0.8)
    return path.scale_up_bytes_per_s * ratio / volume(operation, path.local)


def _limits(use: Use) -> Limits:
    found = {"NVLink": scale_up_algbw(use.path, use.operation)}
    if use.path.domains > 1:
        found[use.beyond] = use.net_bytes_per_s("tree") * use.path.const("sharp", 0.485)
    return found


nvls = CollectiveAlgorithm(
    name="nvls",
    title="NVLS",
    operations=frozenset(
        {Operation.ALL_REDUCE, Operation.ALL_GATHER, Operation.REDUCE_SCATTER}
    ),
    refusal=_refusal,
    nccl_latency_s=_nccl_latency,
    nccl_algbw_bytes_per_s=_nccl_algbw,
    latency_s=_latency,
    limits=_limits,
)
