"""CollNet Direct: GPUs spread over NVLink, switches of the network reduce (SHARP)."""

from weft.engines.analytic.collective.algorithm import (
    CollectiveAlgorithm,
    Limits,
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
_FAN_S = 0.4e-6


def _refusal(path: Path, operation: Operation) -> str:  # noqa: ARG001 - one signature
    if path.domains == 1 or not path.network_reduces:
        return "no in-network reduction between hosts"
    if not path.scale_up_full:
        return "no NVLink switch"
    if path.env.get("NCCL_COLLNET_ENABLE", "1") == "0":
        return "NCCL_COLLNET_ENABLE=0"
    return "more than eight ranks in the domain" if path.local > _MAX_LOCAL else ""


def _fan(path: Path, local: float) -> float:
    return 2 * (min(1, path.local - 1) * local + (path.local - 1) * _FAN_S)


def _nccl_latency(path: Path, operation: Operation, protocol: str) -> float:  # noqa: ARG001
    local = nccl_local_step_s(path, "collnet_direct", protocol)
    return _fan(path, local) + nccl_net_step_s(path, "collnet_direct", protocol)


def _nccl_algbw(path: Path, graphs: Graphs, operation: Operation, protocol: str) -> float:  # noqa: ARG001
    graph = graphs.direct
    bus = graph.channels * graph.intra_bytes_per_s
    crowd = path.local / graph.channels
    factor = max(1.0, crowd - (crowd - 1) / 2)
    modern = 0.85 if path.table_class in {"hopper", "blackwell"} else 1.0
    return bus / factor * modern * 0.5


def _latency(path: Path, operation: Operation, protocol: str) -> float:  # noqa: ARG001
    local = local_step_s(path, "collnet_direct", protocol)
    return _fan(path, local) + net_step_s(path, "collnet_direct", protocol)


def _limits(path: Path, graphs: Graphs, operation: Operation, protocol: str) -> Limits:  # noqa: ARG001
    net = net_available(path, "tree") * path.const("sharp", 0.45)
    scale_up = path.scale_up_bytes_per_s * path.scale_up_const("tree") / 2
    return {"NVLink": scale_up, path.fabric_limit or path.net_limit: net}


collnet_direct = CollectiveAlgorithm(
    name="collnet_direct",
    title="CollNet Direct",
    operations=frozenset({Operation.ALL_REDUCE}),
    protocols=("simple",),
    refusal=_refusal,
    nccl_latency_s=_nccl_latency,
    nccl_algbw_bytes_per_s=_nccl_algbw,
    latency_s=_latency,
    limits=_limits,
)
