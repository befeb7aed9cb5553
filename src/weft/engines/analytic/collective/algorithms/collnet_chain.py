"""CollNet Chain: a chain over the GPUs of a host, switches of the network reduce (SHARP)."""

from weft.engines.analytic.collective.algorithm import (
    CollectiveAlgorithm,
    Limits,
    base_s,
    local_step_s,
    nccl_local_step_s,
    nccl_net_step_s,
    net_available,
    net_step_s,
)
from weft.engines.analytic.collective.graph import Graphs
from weft.engines.analytic.collective.path import Path
from weft.traffic.collective import Operation

_MAX_LOCAL = 8


def _refusal(path: Path, operation: Operation) -> str:  # noqa: ARG001 - one signature
    if path.domains == 1 or not path.network_reduces:
        return "no in-network reduction between hosts"
    if path.env.get("NCCL_COLLNET_ENABLE", "1") == "0":
        return "NCCL_COLLNET_ENABLE=0"
    return "more than eight ranks in the domain" if path.local > _MAX_LOCAL else ""


def _nccl_latency(path: Path, operation: Operation, protocol: str) -> float:  # noqa: ARG001
    base = path.tuning.base_s["collnet_chain"][protocol]
    local = nccl_local_step_s(path, "collnet_chain", protocol)
    net = nccl_net_step_s(path, "collnet_chain", protocol)
    return base + 2 * (path.local - 1) * local + net


def _nccl_algbw(path: Path, graphs: Graphs, operation: Operation, protocol: str) -> float:  # noqa: ARG001
    return 0.5 * graphs.tree.channels * graphs.tree.intra_bytes_per_s


def _latency(path: Path, operation: Operation, protocol: str) -> float:  # noqa: ARG001
    base = base_s(path, "collnet_chain", protocol)
    local = local_step_s(path, "collnet_chain", protocol)
    return base + 2 * (path.local - 1) * local + net_step_s(path, "collnet_chain", protocol)


def _limits(path: Path, graphs: Graphs, operation: Operation, protocol: str) -> Limits:  # noqa: ARG001
    net = net_available(path, "tree") * path.const("sharp", 0.45)
    found = {path.fabric_limit or path.net_limit: net}
    if path.local > 1:
        scale_up = path.scale_up_bytes_per_s * path.scale_up_const("tree")
        inside = 2 * (path.local - 1) / path.local
        found["NVLink" if path.link == "nvlink" else "PCIe"] = scale_up / inside
    return found


collnet_chain = CollectiveAlgorithm(
    name="collnet_chain",
    title="CollNet Chain",
    operations=frozenset({Operation.ALL_REDUCE}),
    protocols=("simple",),
    refusal=_refusal,
    nccl_latency_s=_nccl_latency,
    nccl_algbw_bytes_per_s=_nccl_algbw,
    latency_s=_latency,
    limits=_limits,
)
