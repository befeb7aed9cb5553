"""Ring: every rank passes blocks to the next; bandwidth-optimal, latency grows with ranks."""

from weft.engines.analytic.collective.algorithm import (
    PROTOCOLS,
    CollectiveAlgorithm,
    Limits,
    base_s,
    crossings,
    local_step_s,
    nccl_bus_bytes_per_s,
    nccl_ll_max,
    nccl_local_step_s,
    nccl_net_step_s,
    net_available,
    net_step_s,
    steps,
    volume,
)
from weft.engines.analytic.collective.graph import Graphs
from weft.engines.analytic.collective.path import Path
from weft.traffic.collective import Operation

_FLAG_RATIO = {"ll": 0.5, "ll128": 0.92, "simple": 1.0}
"""Share of each line that carries data (LL: 4 of 8 bytes; LL128: 120 of 128, NCCL's 0.92)."""


_TO_ONE_OR_FROM_ONE = frozenset({Operation.BROADCAST, Operation.REDUCE})
_REDUCING = frozenset({Operation.ALL_REDUCE, Operation.REDUCE})


def _refusal(path: Path, operation: Operation) -> str:  # noqa: ARG001 - one signature
    return ""


def _overhead_s(path: Path, protocol: str) -> float:
    """Return what the library counts for posting a step to the network."""
    if path.domains == 1:
        return 0.0
    return path.tuning.net_overhead_s[path.cpu] * (3 if protocol == "simple" else 1)


def _nccl_latency(path: Path, operation: Operation, protocol: str) -> float:
    base = path.tuning.base_s["ring"][protocol]
    if operation in _TO_ONE_OR_FROM_ONE:
        row = path.tuning.step_s["net" if path.domains > 1 else path.link]
        step = row["tree" if protocol == "simple" else "ring"][protocol]
        return base + steps(operation, path.ranks) * step
    crossed = crossings(operation, path.domains)
    if crossed and operation is Operation.ALL_REDUCE:
        crossed += path.tuning.rules.ring_extra_crossings
    local = max(nccl_local_step_s(path, "ring", protocol), _overhead_s(path, protocol))
    inside = steps(operation, path.ranks) - crossed
    net = nccl_net_step_s(path, "ring", protocol) if crossed else 0.0
    return base + inside * local + crossed * net


def _nccl_algbw(path: Path, graphs: Graphs, operation: Operation, protocol: str) -> float:
    rules, graph = path.tuning.rules, graphs.ring
    bus = nccl_bus_bytes_per_s(path, graph)
    if protocol == "ll":
        alone = path.domains == 1 and operation not in _REDUCING
        ratio = rules.ring_ll_one_way_ratio if alone else rules.ring_ll_ratio
        bus = min(nccl_ll_max(path), bus * ratio)
    elif protocol == "ll128":
        ratio = _FLAG_RATIO["ll128"] if path.local > 1 else rules.ring_ll128_alone_ratio
        ceiling = path.tuning.channel_ring_ll128_bytes_per_s[path.table_class][path.scale_index]
        bus = min(bus * ratio, graph.channels * ceiling)
    return bus / volume(operation, path.ranks)


def _latency(path: Path, operation: Operation, protocol: str) -> float:
    crossed = crossings(operation, path.domains)
    inside = steps(operation, path.ranks) - crossed
    step = max(local_step_s(path, "ring", protocol), _overhead_s(path, protocol))
    net = net_step_s(path, "ring", protocol) if crossed else 0.0
    return base_s(path, "ring", protocol) + inside * step + crossed * net


def _limits(path: Path, graphs: Graphs, operation: Operation, protocol: str) -> Limits:
    share = volume(operation, path.ranks)
    carried = _FLAG_RATIO[protocol] / share
    scale_up = path.scale_up_bytes_per_s * path.scale_up_const("ring")
    found = {}
    if path.local > 1:
        # The GPU beside the NIC sends there and not over NVLink: r - 1 of r hops are inside.
        inside = path.local / (path.local - 1) if path.domains > 1 else 1.0
        found["NVLink" if path.link == "nvlink" else "PCIe"] = scale_up * inside * carried
    if path.domains > 1:
        found[path.fabric_limit or path.net_limit] = net_available(path, "ring") * carried
        # A channel is slowed by its slices, not by flags: what it carries is payload.
        flags = _FLAG_RATIO["ll"] if protocol == "ll" else 1.0
        found["channels"] = graphs.total_channels * path.channel_bytes_per_s * flags / share
    if protocol == "ll":
        found["LL flags"] = nccl_ll_max(path) / share
    return found


ring = CollectiveAlgorithm(
    name="ring",
    title="Ring",
    operations=frozenset(Operation) - {Operation.ALL_TO_ALL, Operation.SEND_RECV},
    protocols=PROTOCOLS,
    refusal=_refusal,
    nccl_latency_s=_nccl_latency,
    nccl_algbw_bytes_per_s=_nccl_algbw,
    latency_s=_latency,
    limits=_limits,
)
