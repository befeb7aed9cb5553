"""Ring: every rank passes blocks to the next; bandwidth-optimal, latency grows with ranks."""

from weft.engines.analytic.collective.algorithm import (
    PROTOCOLS,
    CollectiveAlgorithm,
    Limits,
    Use,
    crossings,
    steps,
    volume,
)
from weft.engines.analytic.collective.path import Path
from weft.traffic.collective import Operation

_FLAG_RATIO = {"ll": 0.5, "ll128": 0.92, "simple": 1.0}
"""Share of each line that carries data (LL: 4 of 8 bytes; LL128: 120 of 128, NCCL's 0.92)."""
_TO_ONE_OR_FROM_ONE = frozenset({Operation.BROADCAST, Operation.REDUCE})
_REDUCING = frozenset({Operation.ALL_REDUCE, Operation.REDUCE})


def _overhead_s(path: Path, protocol: str) -> float:
    """Return what the library counts for posting a step to the network."""
    if path.domains == 1:
        return 0.0
    return path.tuning.net_overhead_s[path.cpu] * (3 if protocol == "simple" else 1)


def _nccl_latency(use: Use) -> float:
    path, protocol = use.path, use.protocol
    if use.operation in _TO_ONE_OR_FROM_ONE:
        row = path.tuning.step_s["net" if path.domains > 1 else path.link]
        step = row["tree" if protocol == "simple" else "ring"][protocol]
        return use.base_s("ring") + steps(use.operation, path.ranks) * step
    crossed = crossings(use.operation, path.domains)
    if crossed and use.operation is Operation.ALL_REDUCE:
        crossed += path.tuning.rules.ring_extra_crossings
    return _steps_s(use, crossed)


def _latency(use: Use) -> float:
    return _steps_s(use, crossings(use.operation, use.path.domains))


def _steps_s(use: Use, crossed: int) -> float:
    """Return start and steps, of which some cross the network."""
    inside = steps(use.operation, use.path.ranks) - crossed
    local = max(use.local_step_s("ring"), _overhead_s(use.path, use.protocol))
    net = use.net_step_s("ring") if crossed else 0.0
    return use.base_s("ring") + inside * local + crossed * net


def _nccl_algbw(use: Use) -> float:
    path, rules, graph = use.path, use.path.tuning.rules, use.graphs.ring
    bus = use.bus_bytes_per_s(graph)
    if use.protocol == "ll":
        alone = path.domains == 1 and use.operation not in _REDUCING
        ratio = rules.ring_ll_one_way_ratio if alone else rules.ring_ll_ratio
        bus = min(use.ll_max_bytes_per_s(), bus * ratio)
    elif use.protocol == "ll128":
        ratio = _FLAG_RATIO["ll128"] if path.local > 1 else rules.ring_ll128_alone_ratio
        ceiling = path.tuning.channel_ring_ll128_bytes_per_s[path.table_class][path.scale_index]
        bus = min(bus * ratio, graph.channels * ceiling)
    return bus / volume(use.operation, path.ranks)


def _limits(use: Use) -> Limits:
    path, share = use.path, volume(use.operation, use.path.ranks)
    carried = _FLAG_RATIO[use.protocol] / share
    scale_up = path.scale_up_bytes_per_s * path.scale_up_const("ring")
    found = {}
    if path.local > 1:
        # The GPU beside the NIC sends there and not over NVLink: r - 1 of r hops are inside.
        inside = path.local / (path.local - 1) if path.domains > 1 else 1.0
        found[use.inside] = scale_up * inside * carried
    if path.domains > 1:
        found[use.beyond] = use.net_bytes_per_s("ring") * carried
        # A channel is slowed by its slices, not by flags: what it carries is payload.
        flags = _FLAG_RATIO["ll"] if use.protocol == "ll" else 1.0
        channels = use.graphs.total_channels * path.channel_bytes_per_s
        found["channels"] = channels * flags / share
    if use.protocol == "ll":
        found["LL flags"] = use.ll_max_bytes_per_s() / share
    return found


ring = CollectiveAlgorithm(
    name="ring",
    title="Ring",
    operations=frozenset(Operation) - {Operation.ALL_TO_ALL, Operation.SEND_RECV},
    protocols=PROTOCOLS,
    nccl_latency_s=_nccl_latency,
    nccl_algbw_bytes_per_s=_nccl_algbw,
    latency_s=_latency,
    limits=_limits,
)
