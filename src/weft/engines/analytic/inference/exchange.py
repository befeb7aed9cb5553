"""Time of the experts' exchange: dispatch of tokens to experts, and their combination.

Kernels that write into remote memory from the GPU (DeepEP, UCCL-EP, pplx-kernels) take::

    t = s + l + max(r / (C p), i / (V q))

s: start (kernel, flags, polling); l: latency of one message between the domains; r, i: bytes
of one GPU that leave the domain and that cross the scale-up links; C: payload rate of its share
of the NICs after the fabric's factor, V: rate of its scale-up links, p and q: shares of them
reached. Without RDMA, or where the service says so, NCCL's all-to-all does it.
"""

from collections.abc import Callable, Mapping
from typing import Literal

from weft.engines.analytic.collective import collective_time
from weft.engines.analytic.collective.constants import current
from weft.engines.analytic.collective.path import Path, Same, path_of
from weft.engines.engine import CollectiveTime
from weft.spec.cluster import Cluster
from weft.spec.inference import Inference
from weft.traffic.collective import Group, Operation
from weft.traffic.serving import Exchange

Collective = Callable[[Cluster, Operation, float, Group], CollectiveTime]
End = Literal["value", "low", "high"]
"""Of an estimate: its value, or one end of its band."""


def exchange_s(
    cluster: Cluster,
    service: Inference,
    wanted: Exchange,
    *,
    constants: Mapping[str, float],
    end: End = "value",
    collective: Collective = collective_time,
) -> float:
    """Return the time of dispatch and combine of one layer; constants as in constants.toml.

    ``end`` picks the value, low or high end where NCCL's all-to-all does it.
    """
    path = path_of(Same(cluster), wanted.group, current())
    sizes = (wanted.dispatch_bytes, wanted.combine_bytes)
    if service.expert_exchange == "one_sided" and writes_remotely(path):
        return sum(_one_sided_s(path, wanted, size, constants) for size in sizes)
    times = [collective(cluster, Operation.ALL_TO_ALL, size, wanted.group) for size in sizes]
    return sum(float(getattr(time.time_s, end)) for time in times)


def writes_remotely(path: Path) -> bool:
    """Say whether GPUs can write into the memory of all others of the group."""
    return path.domains == 1 or (path.fabric.rdma and path.gpudirect)


def _one_sided_s(
    path: Path, wanted: Exchange, size_bytes: float, constants: Mapping[str, float]
) -> float:
    start_s = constants["one_sided_start"]
    inside_s = size_bytes * wanted.local_ratio
    inside_s /= path.scale_up_bytes_per_s * constants["scale_up_ratio"]
    if path.domains == 1:
        return start_s + inside_s
    rate = path.net_bytes_per_s / path.local * path.fabric_ratio * constants["one_sided_ratio"]
    fabric, hops = path.fabric, path.reach.hops
    latency_s = fabric.end_to_end_s.value + hops * fabric.switch_hop_s.value
    latency_s += path.reach.cable_s + fabric.step_overhead_s.value
    outside_s = size_bytes * wanted.remote_ratio / rate
    return start_s + latency_s + max(outside_s, inside_s)
