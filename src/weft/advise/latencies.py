"""What messages take on each fabric, and how many of them a step waits for."""

from math import log2

from weft.engines.analytic.collective import collective_time
from weft.engines.engine import Traffic
from weft.network import fabric
from weft.predict.training import Prediction
from weft.results import Estimate
from weft.spec.cluster import Cluster
from weft.traffic.collective import Operation


def message_s(kind: str, switches: int) -> Estimate:
    """Return the time of a small message, one way, through some switches."""
    found = fabric.find(kind)
    ends, hop = found.end_to_end_s, found.switch_hop_s
    return Estimate(
        ends.value + switches * hop.value,
        ends.low + switches * hop.low,
        ends.high + switches * hop.high,
    )


def waited_steps(prediction: Prediction) -> float:
    """Return how many network steps in a row the GPUs wait for in one training step.

    A collective over d domains is a chain of messages: 2(d-1) for a ring all-reduce, d-1 for
    another ring, 2 log2 d for a tree, 1 for a send. Only its exposed share is waited for.
    NCCL would change the algorithm at much larger latencies, so this is an upper bound.
    """
    cluster = prediction.cluster
    return sum(_chain(cluster, t) * t.calls for t in prediction.step.traffic if t.fabric_ratio)


def _chain(cluster: Cluster, traffic: Traffic) -> float:
    domains = traffic.group.domains
    if domains < 2 or not traffic.total_s:  # noqa: PLR2004 - a network joins two
        return 0.0
    found = collective_time(cluster, traffic.operation, traffic.size_bytes, traffic.group)
    if "ring" in found.algorithm:
        length = (2.0 if traffic.operation is Operation.ALL_REDUCE else 1.0) * (domains - 1)
    elif traffic.operation in {Operation.SEND_RECV, Operation.ALL_TO_ALL}:
        length = 1.0
    else:
        length = 2 * log2(domains)
    return length * traffic.exposed_s / traffic.total_s
