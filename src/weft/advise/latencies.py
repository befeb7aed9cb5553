"""What messages take on each fabric, beside what has been written about it."""

from dataclasses import dataclass
from math import log2

from weft.advise.consideration import Number
from weft.advise.wording import figure
from weft.engines.analytic.collective import collective_time
from weft.engines.engine import Traffic
from weft.network import fabric
from weft.predict.training import Prediction
from weft.results import Estimate
from weft.spec.cluster import Cluster
from weft.traffic.collective import Operation


@dataclass(frozen=True, slots=True)
class Published:
    """A range of latencies that an article gives for a fabric."""

    article: str
    fabric: str
    low_s: float
    high_s: float
    switches: int = 1

    @property
    def title(self) -> str:
        """The fabric's title."""
        return fabric.find(self.fabric).title


def message_s(kind: str, switches: int) -> Estimate:
    """Return the time of a small message, one way, through some switches."""
    found = fabric.find(kind)
    ends, hop = found.end_to_end_s, found.switch_hop_s
    return Estimate(
        ends.value + switches * hop.value,
        ends.low + switches * hop.low,
        ends.high + switches * hop.high,
    )


def judge(published: tuple[Published, ...]) -> list[tuple[str, bool, Number]]:
    """Say of each figure what weft has instead, and whether weft's value lies in its range."""
    return [_judge(one) for one in published]


def _judge(one: Published) -> tuple[str, bool, Number]:
    ours = message_s(one.fabric, one.switches)
    inside = one.low_s <= ours.value <= one.high_s
    overlap = ours.low <= one.high_s and one.low_s <= ours.high
    words = "inside" if inside else "the ranges meet" if overlap else "outside"
    through = "through one switch" if one.switches == 1 else f"through {one.switches} switches"
    text = (
        f"{one.article}, {one.title}: {figure(one.low_s, 's')} to {figure(one.high_s, 's')}; "
        f"weft {figure(ours.value, 's')} ({figure(ours.low, 's')} to "
        f"{figure(ours.high, 's')}) {through}: {words}"
    )
    return text, inside, Number(f"{one.title}, {through}", ours.value, "s")


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
