"""CollNet Direct: GPUs spread over NVLink, switches of the network reduce (SHARP)."""

from weft.engines.analytic.collective.algorithm import CollectiveAlgorithm, Limits, Use
from weft.engines.analytic.collective.algorithms.collnet_chain import no_sharp
from weft.engines.analytic.collective.path import Path
from weft.traffic.collective import Operation

_FAN_S = 0.4e-6


def _refusal(path: Path, operation: Operation) -> str:
    return no_sharp(path, operation) or ("" if path.scale_up_full else "no NVLink switch")


def _latency(use: Use) -> float:
    others, local_s = use.path.local - 1, use.local_step_s("collnet_direct")
    fan_s = 2 * (min(1, others) * local_s + others * _FAN_S)
    return fan_s + use.net_step_s("collnet_direct")


def _nccl_algbw(use: Use) -> float:
    path, graph = use.path, use.graphs.direct
    bus = graph.channels * graph.intra_bytes_per_s
    crowd = path.local / graph.channels
    factor = max(1.0, crowd - (crowd - 1) / 2)
    modern = 0.85 if path.table_class in {"hopper", "blackwell"} else 1.0
    return bus / factor * modern * 0.5


def _limits(use: Use) -> Limits:
    path = use.path
    scale_up = path.scale_up_bytes_per_s * path.scale_up_const("tree") / 2
    net = use.net_bytes_per_s("tree") * path.const("sharp", 0.45)
    return {"NVLink": scale_up, use.beyond: net}


collnet_direct = CollectiveAlgorithm(
    name="collnet_direct", title="CollNet Direct", operations=frozenset({Operation.ALL_REDUCE}),
    refusal=_refusal, latency_s=_latency, nccl_algbw_bytes_per_s=_nccl_algbw, limits=_limits,
)  # fmt: skip
