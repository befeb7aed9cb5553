"""Permutation: everyone sends to one other on its rail and receives from one other."""

import numpy as np
import numpy.typing as npt

from weft.engines.packet.pattern import Pattern
from weft.engines.packet.schedules import Work
from weft.spec.scenario import PermutationTraffic


def _add(work: Work, one: PermutationTraffic, rng: np.random.Generator) -> None:
    host = work.fabric.cluster.host
    hosts = one.hosts or work.fabric.cluster.hosts
    count = one.gpus_per_host or min(host.gpus, host.nics)
    for place in range(count):
        gpu = place * host.gpus // count
        partner = _partners(one.pattern, hosts, rng)
        for near in range(hosts):
            far = int(partner[near])
            work.send(near * host.gpus + gpu, far * host.gpus + gpu, one.size_bytes)


def _partners(pattern: str, hosts: int, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """Return whom each host sends to: a cycle in random order, or half the cluster further."""
    if pattern == "shift":
        return (np.arange(hosts) + hosts // 2) % hosts
    order = rng.permutation(hosts)
    partner = np.empty(hosts, np.int64)
    partner[order] = np.roll(order, 1)
    return partner


permutation = Pattern(title="everyone to one other", add=_add)
