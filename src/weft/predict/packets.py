"""Collectives with the network's share measured packet by packet, on a part of it if large.

The closed form multiplies the rate of the NICs by what load balancing, tuning and
oversubscription leave of it, which are sourced factors. Here a probe takes their place: the
collective's own pattern runs over the cluster's own network, with the settings that its fabric
and tuning name, and the share is::

    share = time of the bytes on an idle link / (time taken - latency of the steps)

What the library costs stays as the closed form has it.
"""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from math import log2
from statistics import median
from typing import Final

from weft.engines.analytic.collective.constants import current
from weft.engines.analytic.collective.model import _time, collective_time
from weft.engines.analytic.collective.path import Path, Same, path_of
from weft.engines.engine import CollectiveTime
from weft.engines.packet.paths import ideal_ps, paths_of
from weft.engines.packet.pattern import compile_traffic, connections_of
from weft.engines.packet.schedules import Schedule, fabric_of
from weft.engines.packet.settings import options_of
from weft.engines.packet.simulation import PS_PER_S, Options, simulate
from weft.engines.packet.wiring import shortest_routes
from weft.predict.part import part_of
from weft.results import Estimate
from weft.spec.cluster import Cluster
from weft.spec.load import settings_of
from weft.spec.scenario import CollectiveTraffic, Scenario, TrafficItem
from weft.traffic.collective import Group, Operation

SEEDS: Final = (1, 2, 3)
MOST_ENDPOINTS: Final = 256
"""Of the part that is simulated: a second or two a seed."""
PACKETS_PER_SEND: Final = 64
LEAST_SHARE: Final = 0.01
_LONGEST_S: Final = 2.0
"""Simulated time of a probe; what is not there by then has kept next to nothing."""
RINGS: Final = frozenset({Operation.ALL_REDUCE, Operation.ALL_GATHER, Operation.REDUCE_SCATTER})


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """What packets leave of the NICs' rate, and how that was found."""

    share: Estimate
    hosts: int
    """Hosts that were simulated."""
    pattern: str
    settings: str

    def reason(self, hosts: int) -> str:
        """Say in one line what was simulated, and what it gave."""
        share = self.share
        part = (
            "" if self.hosts == hosts else f", extrapolated from {self.hosts} to {hosts} hosts"
        )
        return (
            f"packets of a {self.pattern} ({self.settings}, {len(SEEDS)} seeds) keep "
            f"{share.value:.0%} ({share.low:.0%} to {share.high:.0%}) of the NICs{part}"
        )


def sweep(
    cluster: Cluster,
    operation: Operation,
    sizes: Sequence[float],
    ranks: int,
    ranks_per_domain: int,
) -> list[CollectiveTime]:
    """Predict the curve of nccl-tests with the network's share simulated."""
    group = Group(ranks=ranks, ranks_per_domain=ranks_per_domain)
    closed = [collective_time(cluster, operation, size, group) for size in sizes]
    if group.domains == 1:
        return closed
    found = probe(cluster, operation, group.domains)
    path = path_of(Same(cluster), group, current())
    paths = tuple(
        replace(path, fabric_ratio=share, fabric_limit="packets")
        for share in (found.share.low, found.share.value, found.share.high)
    )
    return [with_share(point, paths, found) for point in closed]


def probe(cluster: Cluster, operation: Operation, hosts: int) -> Probe:
    """Simulate the pattern of an operation between hosts; extrapolate where they are many."""
    part = part_of(cluster)
    most = max(4, MOST_ENDPOINTS // part.host.nics)
    simulated = min(hosts, most)
    pattern = "ring" if operation in RINGS else "pairwise exchange"
    shares = _shares(part, operation, simulated)
    share = Estimate(median(shares), min(shares), max(shares))
    if simulated < hosts:
        half = median(_shares(part, operation, simulated // 2))
        share = extrapolated(share, half, log2(hosts / simulated))
    settings = f"{cluster.fabric.kind}, {cluster.fabric.tuning}"
    return Probe(share=share, hosts=simulated, pattern=pattern, settings=settings)


def extrapolated(share: Estimate, half: float, doublings: float) -> Estimate:
    """Lose with every further doubling what the last lost; at worst twice that, at best none.

    >>> extrapolated(Estimate(0.9, 0.9, 0.9), half=1.0, doublings=2)
    Estimate(value=0.7290000000000001, low=0.5904900000000001, high=0.9)
    """
    kept = min(1.0, share.value / half)
    return Estimate(
        share.value * kept**doublings, share.low * kept ** (2 * doublings), share.high
    )


def _scenario(
    cluster: Cluster, operation: Operation, hosts: int, packet_bytes: int
) -> Scenario:
    ring = operation in RINGS
    share = hosts * PACKETS_PER_SEND * packet_bytes * cluster.host.nics
    traffic = CollectiveTraffic(
        operation="all_gather" if ring else "alltoall",
        size_bytes=f"{share}B",  # type: ignore[arg-type]  # read with its unit, as in a file
        ranks=hosts,
        ranks_per_host=1,
        channels=cluster.host.nics,
    )
    return Scenario(
        cluster=cluster.with_(hosts=max(hosts, 2)),
        traffic=(TrafficItem(collective=traffic),),
        network=settings_of(cluster),
    )


def _shares(cluster: Cluster, operation: Operation, hosts: int) -> list[float]:
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(lambda seed: _share(cluster, operation, hosts, seed), SEEDS))


def _share(cluster: Cluster, operation: Operation, hosts: int, seed: int) -> float:
    mtu = options_of(_scenario(cluster, operation, hosts, 1024), seed).mtu_bytes
    scenario = _scenario(cluster, operation, hosts, mtu)
    schedule = compile_traffic(fabric_of(scenario.cluster), scenario, seed)
    paths = connections_of(scenario)
    ring = operation in RINGS
    return share_kept(
        schedule, options_of(scenario, seed), steps=hosts - 1, paths=paths, ring=ring
    )


def share_kept(
    schedule: Schedule, options: Options, *, steps: int, paths: int, ring: bool
) -> float:
    """Simulate once: the wire time of what a NIC sends over the time without latency.

    A send is split over so many paths; what has not ended at the limit took all of it.
    """
    flows, routes = schedule.flows, shortest_routes(schedule.wiring)
    alone = ideal_ps(paths_of(schedule.wiring, routes, flows), flows, options)
    wire = 1 + options.header_bytes / options.payload_bytes
    rate = schedule.wiring.bytes_per_s.min()
    one = float(flows.size_bytes.max()) * wire * PS_PER_S / rate
    until = round(_LONGEST_S * PS_PER_S)
    outcome = simulate(schedule.wiring, flows, options, routes=routes, until_ps=until)
    took = outcome.completion_ps if (outcome.end_ps >= 0).all() else until
    # What the way of a send adds to its time on the wire: once a step, or once in all.
    waits = steps * (alone.mean() - one) if ring else float(alone.max()) - one
    return float(max(LEAST_SHARE, min(1.0, steps * one * paths / max(took - waits, 1.0))))


def with_share(closed: CollectiveTime, paths: tuple[Path, ...], found: Probe) -> CollectiveTime:
    """Put the simulated share in the place of the sourced one; the library's band stays."""
    slow, middle, fast = (_time(p, closed.operation, closed.size_bytes)[0] for p in paths)
    low, high = (end / closed.time_s.value for end in (closed.time_s.low, closed.time_s.high))
    return replace(
        closed,
        time_s=Estimate(middle, fast * low, slow * high),
        reasons=(*closed.reasons, found.reason(closed.group.domains)),
        assumptions=tuple(a for a in closed.assumptions if a not in paths[0].factors),
    )


def time_on(closed: CollectiveTime, path: Path, said: str) -> CollectiveTime:
    """Time a collective on a path whose share was simulated; the library's band stays."""
    middle = _time(path, closed.operation, closed.size_bytes)[0]
    low, high = (end / closed.time_s.value for end in (closed.time_s.low, closed.time_s.high))
    return replace(
        closed,
        time_s=Estimate(middle, middle * low, middle * high),
        reasons=(*closed.reasons, said),
        assumptions=tuple(a for a in closed.assumptions if a not in path.factors),
    )
