"""What packets leave of the NICs' rate, measured in one run and put into the closed form.

The closed form multiplies the rate of the NICs by what load balancing, tuning and
oversubscription leave of it, which are sourced factors. A simulated share takes their place::

    share = time of the bytes on an idle link / (time taken - latency of the steps)

What the library costs stays as the closed form has it.
"""

from dataclasses import replace
from typing import Final

from weft.engines.analytic.collective.constants import current
from weft.engines.analytic.collective.model import estimate
from weft.engines.analytic.collective.path import Path, Same, path_of
from weft.engines.engine import CollectiveTime
from weft.engines.packet.paths import ideal_ps, paths_of
from weft.engines.packet.schedules import Schedule
from weft.engines.packet.simulation import PS_PER_S, Options, simulate
from weft.engines.packet.wiring import Routes, shortest_routes
from weft.results import Estimate
from weft.spec.cluster import Cluster

LEAST_SHARE: Final = 0.01
_LONGEST_S: Final = 2.0
"""Simulated time of a probe; what is not there by then has kept next to nothing."""


def extrapolated(share: Estimate, longer_ratio: float, doublings: float) -> Estimate:
    """Add to the slowdown with every further doubling what the last added; none to twice that.

    What waits for the slowest of N connections waits for the fullest of N links, and that grows
    with log N: a hash leaves a shuffled ring of 64, 128, 256 and 512 hosts on leaves of 16 a
    slowdown of 2.4, 3.0, 4.2 and 4.8.

    >>> extrapolated(Estimate(0.5, 0.5, 0.5), longer_ratio=0.5, doublings=4)
    Estimate(value=0.25, low=0.16666666666666666, high=0.5)
    """
    more = max(0.0, longer_ratio) * doublings
    return Estimate(1 / (1 / share.value + more), 1 / (1 / share.low + 2 * more), share.high)


def share_kept(
    schedule: Schedule,
    options: Options,
    *,
    steps: int,
    paths: int,
    ring: bool,
    port_bytes_per_s: float | None = None,
    routes: Routes | None = None,
) -> float:
    """Simulate once: the wire time of what a NIC sends over the time without latency.

    A send is split over so many paths; what has not ended at the limit took all of it. The
    share is of the port's rate where that is given, else of the slowest link's.
    """
    flows, routes = schedule.flows, routes or shortest_routes(schedule.wiring)
    alone = ideal_ps(paths_of(schedule.wiring, routes, flows), flows, options)
    wire = 1 + options.header_bytes / options.payload_bytes
    rate = schedule.wiring.bytes_per_s.min()
    one = float(flows.size_bytes.max()) * wire * PS_PER_S / rate
    until = round(_LONGEST_S * PS_PER_S)
    outcome = simulate(schedule.wiring, flows, options, routes=routes, until_ps=until)
    took = outcome.completion_ps if (outcome.end_ps >= 0).all() else until
    # What the way of a send adds to its time on the wire: once a step, or once in all.
    waits = steps * (alone.mean() - one) if ring else float(alone.max()) - one
    due = steps * one * paths * (1.0 if port_bytes_per_s is None else rate / port_bytes_per_s)
    return float(max(LEAST_SHARE, min(1.0, due / max(took - waits, 1.0))))


def _ports(cluster: Cluster, path: Path) -> float:
    """Return the payload that the ports of a domain can send, whatever its hosts copy."""
    payload = path.fabric.payload_ratio(cluster.fabric.mtu_bytes)
    return path.nics * path.nic_line_bytes_per_s * payload * (1 - cluster.fabric.load_ratio)


def with_share(
    cluster: Cluster, closed: CollectiveTime, share: Estimate, said: str
) -> CollectiveTime:
    """Put a simulated share in the place of the sourced factors; the library's band stays."""
    path = path_of(Same(cluster), closed.group, current())
    if not path.fabric.rdma:
        path = replace(path, net_bytes_per_s=_ports(cluster, path), net_limit="NIC")
    return with_ratio(path, closed, share, said, limit="packets")


def with_ratio(
    path: Path, closed: CollectiveTime, share: Estimate, said: str, *, limit: str
) -> CollectiveTime:
    """Put a share of the rate of a path in the place of its factors."""
    slow, middle, fast = (
        estimate(replace(path, fabric_ratio=end, fabric_limit=limit), closed.operation,
                 closed.size_bytes)[0].value
        for end in (share.low, share.value, share.high)
    )  # fmt: skip
    low, high = (end / closed.time_s.value for end in (closed.time_s.low, closed.time_s.high))
    return replace(
        closed,
        time_s=Estimate(middle, fast * low, slow * high),
        reasons=(*closed.reasons, said),
        assumptions=tuple(a for a in closed.assumptions if a not in path.factors),
    )
