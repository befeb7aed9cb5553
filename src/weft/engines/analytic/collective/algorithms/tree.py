"""Tree: double binary tree over hosts, a chain inside; few steps, twice the volume on NICs.

On two hosts each tree has one edge: every byte crosses the network once each way, so the
bus bandwidth may exceed what the NICs carry (2 (n - 1) / n times).
"""

from weft.engines.analytic.collective.algorithm import (
    PROTOCOLS,
    CollectiveAlgorithm,
    Limits,
    base_s,
    levels,
    local_step_s,
    measured,
    nccl_bus_bytes_per_s,
    nccl_ll_max,
    nccl_local_step_s,
    nccl_net_step_s,
    net_available,
    net_step_s,
)
from weft.engines.analytic.collective.graph import Graphs
from weft.engines.analytic.collective.path import Path
from weft.traffic.collective import Operation

_FLAG_RATIO = {"ll": 1 / 3.8, "ll128": 120 / 128, "simple": 1.0}


def _refusal(path: Path, operation: Operation) -> str:  # noqa: ARG001 - one signature
    return ""


def _chain_latency(path: Path, local: float, net: float) -> float:
    return 2 * ((path.local - 1) * local + levels(path.domains) * net)


def _nccl_latency(path: Path, operation: Operation, protocol: str) -> float:  # noqa: ARG001
    local = nccl_local_step_s(path, "tree", protocol)
    net = nccl_net_step_s(path, "tree", protocol)
    return path.tuning.base_s["tree"][protocol] + _chain_latency(path, local, net)


def _nccl_algbw(path: Path, graphs: Graphs, operation: Operation, protocol: str) -> float:  # noqa: ARG001
    tables, row, scale = path.tuning, path.table_class, path.scale_index
    channels = graphs.tree.channels
    bus = min(
        0.92 * nccl_bus_bytes_per_s(path, graphs.tree),
        channels * tables.channel_tree_bytes_per_s[row][scale],
    )
    if protocol == "ll":
        bus = min(bus * _FLAG_RATIO["ll"], nccl_ll_max(path))
    elif protocol == "ll128":
        inside = 7 / 9 if path.domains == 1 else _FLAG_RATIO["ll128"]
        bus = min(bus * inside, channels * tables.channel_tree_ll128_bytes_per_s[row][scale])
    return 0.5 * bus * (tables.rules.simple_tree_ratio if graphs.simple_trees else 1.0)


def _latency(path: Path, operation: Operation, protocol: str) -> float:  # noqa: ARG001
    local = local_step_s(path, "tree", protocol)
    net = net_step_s(path, "tree", protocol)
    return base_s(path, "tree", protocol) + _chain_latency(path, local, net)


def net_volume(domains: int) -> float:
    """Return what the busiest host sends over the network, as a share of the size.

    An inner host of one tree is a leaf of the other: up and two down of one half, up of
    the other; on two hosts there is one edge a tree, on three at most three halves.
    """
    return min(2.0, domains / 2)


def _ceiling(path: Path, graphs: Graphs) -> float:
    """Return what the channels of trees move at most: NCCL's own figure, as algorithm rate.

    NVIDIA measured it; B200 at 2 and at 4 to 46 hosts shows 0.98 and 1.01 of it. It is that
    of the hardware, so the newest table counts whatever release runs.
    """
    rates = measured(path).channel_tree_bytes_per_s[path.table_class]
    return 0.5 * graphs.tree.channels * rates[path.scale_index]


def _limits(path: Path, graphs: Graphs, operation: Operation, protocol: str) -> Limits:  # noqa: ARG001
    carried = _FLAG_RATIO[protocol]
    found = {}
    if path.local > 1:
        scale_up = path.scale_up_bytes_per_s * path.scale_up_const("tree")
        inside = 2 * (path.local - 1) / path.local
        found["NVLink" if path.link == "nvlink" else "PCIe"] = scale_up / inside * carried
    if path.domains > 1:
        net = net_available(path, "tree") / net_volume(path.domains)
        found[path.fabric_limit or path.net_limit] = net * carried
        found["channels"] = graphs.total_channels * path.channel_bytes_per_s * carried
        found["channels of trees"] = _ceiling(path, graphs) * carried
    if protocol == "ll":
        found["LL flags"] = 0.5 * nccl_ll_max(path)
    return found


tree = CollectiveAlgorithm(
    name="tree",
    title="Tree",
    operations=frozenset({Operation.ALL_REDUCE}),
    protocols=PROTOCOLS,
    refusal=_refusal,
    nccl_latency_s=_nccl_latency,
    nccl_algbw_bytes_per_s=_nccl_algbw,
    latency_s=_latency,
    limits=_limits,
    corrected_below=23,
)
