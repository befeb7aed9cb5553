"""Incast: GPUs of other hosts send to one at the same moment."""

import numpy as np

from weft.engines.packet.pattern import Pattern
from weft.engines.packet.schedules import Work
from weft.spec.scenario import IncastTraffic


def _add(work: Work, one: IncastTraffic, rng: np.random.Generator) -> None:
    """Take senders host by host, so that they are spread as evenly as can be."""
    cluster = work.fabric.cluster
    gpus, receiver = cluster.host.gpus, one.receiver
    hosts = [h for h in range(cluster.hosts) if h != receiver // gpus]
    inside = receiver % gpus
    for place in range(one.senders):
        turn, host = divmod(place, len(hosts))
        sender = hosts[host] * gpus + (inside + turn) % gpus
        nic = work.fabric.nic_of(receiver)  # the rail that reaches the receiver
        at_s = float(rng.uniform(0, one.jitter_s)) if one.jitter_s else 0.0
        work.send(sender, receiver, one.size_bytes, nic=nic if turn == 0 else None, at_s=at_s)


incast = Pattern(title="many to one", add=_add)
