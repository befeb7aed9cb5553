"""Time of the experts' exchange: dispatch of tokens to experts, and their combination.

Kernels that write into remote memory from the GPU (DeepEP, UCCL-EP, pplx-kernels) take::

    t = s + l + max(r / (C p), i / (V q))

s: start (kernel, flags, polling); l: latency of one message between the domains; r, i: bytes
of one GPU that leave the domain and that cross the scale-up links; C: payload rate of its share
of the NICs after the fabric's factor, V: rate of its scale-up links, p and q: shares of them
reached. Without RDMA, or where the service says so, NCCL's all-to-all does it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from weft.engines.analytic.collective import collective_time
from weft.engines.analytic.collective.constants import current
from weft.engines.analytic.collective.path import Path, Same, path_of
from weft.engines.engine import CollectiveTime
from weft.results import Estimate
from weft.spec.cluster import Cluster
from weft.spec.inference import Inference
from weft.traffic.collective import Group, Operation
from weft.traffic.serving import Exchange

Collective = Callable[[Cluster, Operation, float, Group], CollectiveTime]


End = Literal["value", "low", "high"]


def at_end(estimate: Estimate, end: End) -> float:
    """Return the value of an estimate, or one end of its band."""
    return {"value": estimate.value, "low": estimate.low, "high": estimate.high}[end]


@dataclass(frozen=True, slots=True, kw_only=True)
class OneSided:
    """Constants of kernels that write into remote memory."""

    start_s: float
    network_ratio: float
    scale_up_ratio: float


def exchange_s(
    cluster: Cluster,
    service: Inference,
    wanted: Exchange,
    *,
    kernels: OneSided,
    end: End = "value",
    collective: Collective = collective_time,
) -> float:
    """Return the time of dispatch and combine of one layer.

    ``end`` picks the value, low or high end where NCCL's all-to-all does it.
    """
    path = path_of(Same(cluster), wanted.group, current())
    sizes = (wanted.dispatch_bytes, wanted.combine_bytes)
    if service.expert_exchange == "one_sided" and writes_remotely(path):
        return sum(_one_sided_s(path, wanted, size, kernels) for size in sizes)
    times = [collective(cluster, Operation.ALL_TO_ALL, size, wanted.group) for size in sizes]
    return sum(at_end(one.time_s, end) for one in times)


def writes_remotely(path: Path) -> bool:
    """Say whether GPUs can write into the memory of all others of the group."""
    return path.domains == 1 or (path.fabric.rdma and path.gpudirect)


def _one_sided_s(path: Path, wanted: Exchange, size_bytes: float, on: OneSided) -> float:
    inside_s = size_bytes * wanted.local_ratio
    inside_s /= path.scale_up_bytes_per_s * on.scale_up_ratio
    if path.domains == 1:
        return on.start_s + inside_s
    rate = path.net_bytes_per_s / path.local * path.fabric_ratio * on.network_ratio
    fabric, hops = path.fabric, path.reach.hops
    latency_s = fabric.end_to_end_s.value + hops * fabric.switch_hop_s.value
    latency_s += path.reach.cable_s + fabric.step_overhead_s.value
    outside_s = size_bytes * wanted.remote_ratio / rate
    return on.start_s + latency_s + max(outside_s, inside_s)
