"""Which key of the specification would narrow a band, were it stated."""

from dataclasses import dataclass
from typing import Final

from weft.engines.analytic.collective import branches
from weft.engines.analytic.collective.model import collective_time
from weft.engines.engine import CollectiveTime
from weft.results import Estimate
from weft.spec.cluster import Cluster
from weft.traffic.collective import Group, Operation

_LEAST_GAIN: Final = 0.02
"""Share of its width by which a band must narrow to be worth an answer."""
_KEYS: Final = (branches.NVLS_KEY, branches.VERSION_KEY, branches.ALGORITHM_KEY)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A key that the specification leaves open, and the band once it is stated."""

    key: str
    value: str
    """The most likely answer."""
    before: Estimate
    """Bus bandwidth (bytes/s) as the specification is."""
    after: Estimate
    """The same with the key at that value."""


def answers(
    cluster: Cluster, operation: Operation, size_bytes: float, group: Group
) -> tuple[Answer, ...]:
    """Return the open keys whose most likely answer narrows the band, the best first."""
    bare = collective_time(cluster, operation, size_bytes, group)
    open_keys = {b.settle_key for b in branches.branches(cluster, operation, size_bytes, group)}
    found = []
    for key in _KEYS:
        if key not in open_keys:
            continue
        value = _likely(cluster, bare, key)
        stated = branches.with_key(cluster, key, value)
        settled = collective_time(stated, operation, size_bytes, group)
        gain = 1 - _width(settled.time_s) / _width(bare.time_s)
        if gain > _LEAST_GAIN:
            answer = Answer(key=key, value=value, before=_rate(bare), after=_rate(settled))
            found.append((gain, answer))
    return tuple(answer for _, answer in sorted(found, key=lambda pair: -pair[0]))


def _likely(cluster: Cluster, bare: CollectiveTime, key: str) -> str:
    likely = {
        branches.NVLS_KEY: "1",
        branches.VERSION_KEY: cluster.nccl.version,
        branches.ALGORITHM_KEY: bare.algorithm.replace("_", ""),
    }
    return likely[key]


def _width(time_s: Estimate) -> float:
    return time_s.high / time_s.low - 1


def _rate(found: CollectiveTime) -> Estimate:
    volume = found.size_bytes * found.operation.bus_factor(found.group.ranks)
    return found.time_s.map(lambda time_s: volume / time_s)
