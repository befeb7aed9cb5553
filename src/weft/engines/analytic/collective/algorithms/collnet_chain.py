"""CollNet Chain: a chain over the GPUs of a host, switches of the network reduce (SHARP)."""

from weft.engines.analytic.collective.algorithm import CollectiveAlgorithm, Limits, Use
from weft.engines.analytic.collective.path import Path
from weft.traffic.collective import Operation

_MAX_LOCAL = 8


def no_sharp(path: Path, _operation: Operation) -> str:
    """Say why switches of the network do not reduce for a path; empty where they do."""
    if path.domains == 1 or not path.network_reduces:
        return "no in-network reduction between hosts"
    if path.env.get("NCCL_COLLNET_ENABLE", "1") == "0":
        return "NCCL_COLLNET_ENABLE=0"
    return "more than eight ranks in the domain" if path.local > _MAX_LOCAL else ""


def _latency(use: Use) -> float:
    steps_s = 2 * (use.path.local - 1) * use.local_step_s("collnet_chain")
    return use.base_s("collnet_chain") + steps_s + use.net_step_s("collnet_chain")


def _nccl_algbw(use: Use) -> float:
    return 0.5 * use.graphs.tree.channels * use.graphs.tree.intra_bytes_per_s


def _limits(use: Use) -> Limits:
    path = use.path
    found = {use.beyond: use.net_bytes_per_s("tree") * path.const("sharp", 0.45)}
    if path.local > 1:
        scale_up = path.scale_up_bytes_per_s * path.scale_up_const("tree")
        found[use.inside] = scale_up / (2 * (path.local - 1) / path.local)
    return found


collnet_chain = CollectiveAlgorithm(
    name="collnet_chain", title="CollNet Chain", operations=frozenset({Operation.ALL_REDUCE}),
    refusal=no_sharp, latency_s=_latency, nccl_algbw_bytes_per_s=_nccl_algbw, limits=_limits,
)  # fmt: skip
