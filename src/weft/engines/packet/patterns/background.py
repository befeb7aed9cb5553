"""Random transfers: storage, checkpoints, other tenants. Arrivals are Poisson."""

import numpy as np

from weft.engines.packet.pattern import Pattern
from weft.engines.packet.schedules import Work
from weft.spec.scenario import BackgroundTraffic


def _add(work: Work, one: BackgroundTraffic, rng: np.random.Generator) -> None:
    """Draw arrivals for all senders together: rate = load x NICs x line rate / size."""
    cluster = work.fabric.cluster
    host = cluster.host
    senders = cluster.hosts - one.storage_hosts
    rate_per_s = one.load_ratio * senders * host.nics * host.nic_bytes_per_s / one.size_bytes
    for at_s in _arrivals(rate_per_s, one.duration_s, rng):
        near = int(rng.integers(senders))
        if one.storage_hosts:
            far = senders + int(rng.integers(one.storage_hosts))
        else:
            far = (near + 1 + int(rng.integers(cluster.hosts - 1))) % cluster.hosts
        gpu = int(rng.integers(host.gpus))
        work.send(
            near * host.gpus + gpu, far * host.gpus + gpu, one.size_bytes, at_s=float(at_s)
        )


def _arrivals(rate_per_s: float, duration_s: float, rng: np.random.Generator) -> list[float]:
    count = rng.poisson(rate_per_s * duration_s)
    return sorted(rng.uniform(0, duration_s, count).tolist())


background = Pattern(title="random transfers", add=_add)
