"""Tree: double binary tree over hosts, a chain inside; few steps, twice the volume on NICs.

On two hosts each tree has one edge: every byte crosses the network once each way, so the
bus bandwidth may exceed what the NICs carry (2 (n - 1) / n times).
"""

from weft.engines.analytic.collective.algorithm import (
    PROTOCOLS,
    CollectiveAlgorithm,
    Limits,
    Use,
    levels,
    measured,
)
from weft.traffic.collective import Operation

_FLAG_RATIO = {"ll": 1 / 3.8, "ll128": 120 / 128, "simple": 1.0}


def _latency(use: Use) -> float:
    local_s = (use.path.local - 1) * use.local_step_s("tree")
    net_s = levels(use.path.domains) * use.net_step_s("tree")
    return use.base_s("tree") + 2 * (local_s + net_s)


def _nccl_algbw(use: Use) -> float:
    tables, row, scale = use.path.tuning, use.path.table_class, use.path.scale_index
    channels = use.graphs.tree.channels
    bus = min(
        0.92 * use.bus_bytes_per_s(use.graphs.tree),
        channels * tables.channel_tree_bytes_per_s[row][scale],
    )
    if use.protocol == "ll":
        bus = min(bus * _FLAG_RATIO["ll"], use.ll_max_bytes_per_s())
    elif use.protocol == "ll128":
        inside = 7 / 9 if use.path.domains == 1 else _FLAG_RATIO["ll128"]
        bus = min(bus * inside, channels * tables.channel_tree_ll128_bytes_per_s[row][scale])
    return 0.5 * bus * (tables.rules.simple_tree_ratio if use.graphs.simple_trees else 1.0)


def net_volume(domains: int) -> float:
    """Return what the busiest host sends over the network, as a share of the size.

    An inner host of one tree is a leaf of the other: up and two down of one half, up of
    the other; on two hosts there is one edge a tree, on three at most three halves.
    """
    return min(2.0, domains / 2)


def _ceiling(use: Use) -> float:
    """Return what the channels of trees move at most: NCCL's own figure, as algorithm rate.

    NVIDIA measured it; B200 at 2 and at 4 to 46 hosts shows 0.98 and 1.01 of it. It is that
    of the hardware, so the newest table counts whatever release runs.
    """
    rates = measured(use.path).channel_tree_bytes_per_s[use.path.table_class]
    return 0.5 * use.graphs.tree.channels * rates[use.path.scale_index]


def _limits(use: Use) -> Limits:
    path, carried = use.path, _FLAG_RATIO[use.protocol]
    found = {}
    if path.local > 1:
        scale_up = path.scale_up_bytes_per_s * path.scale_up_const("tree")
        inside = 2 * (path.local - 1) / path.local
        found[use.inside] = scale_up / inside * carried
    if path.domains > 1:
        found[use.beyond] = use.net_bytes_per_s("tree") / net_volume(path.domains) * carried
        channels = use.graphs.total_channels * path.channel_bytes_per_s
        found["channels"] = channels * carried
        found["channels of trees"] = _ceiling(use) * carried
    if use.protocol == "ll":
        found["LL flags"] = 0.5 * use.ll_max_bytes_per_s()
    return found


tree = CollectiveAlgorithm(
    name="tree",
    title="Tree",
    operations=frozenset({Operation.ALL_REDUCE}),
    protocols=PROTOCOLS,
    nccl_algbw_bytes_per_s=_nccl_algbw,
    latency_s=_latency,
    limits=_limits,
    corrected_below=23,
)
