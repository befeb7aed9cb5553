"""Endpoints beside the ports of a network: what switches reduce with, and GPUs on NVLink.

A switch that reduces has a *reducer*, an endpoint on a link of its own; a scale-up domain has
one NVLink switch with a reducer and its GPUs. NVLink's rate is of payload, so packets on it
carry their headers for nothing.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from weft.engines.packet.names import node_names, tiers_of
from weft.engines.packet.wiring import Wiring, with_ends
from weft.network.graph import Graph
from weft.spec.cluster import Cluster

BESIDE = 1 << 40
"""Endpoints beside the network are numbered from here until all are known."""
SIDE_BY_SIDE = 1000
"""A reducer without a limit of its own is so many times as fast as what its switch takes in."""
Place = tuple[str, int]
"""("switch", its node), ("domain", its host) or ("gpu", its number in the cluster)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reducing:
    """How switches reduce."""

    bytes_per_s: float | None = None
    """What one switch takes in; none: all that its links bring, side by side."""
    outstanding_bytes: int | None = None
    """What a rank may have under way without its result; none: no bound."""
    wire_ratio: float = 1.0
    """Bytes on the wire over payload, of a full packet."""
    wait_bytes: int = 0
    """What a reducer waits for where switches cut through: it adds up whole packets."""


@dataclass(slots=True, kw_only=True)
class Beside:
    """The endpoints that some traffic needs beside the ports."""

    reducing: Reducing = field(default_factory=Reducing)
    numbers: dict[Place, int] = field(default_factory=dict)

    def end(self, kind: str, number: int) -> int:
        """Return the endpoint of a place."""
        return BESIDE + self.numbers.setdefault((kind, number), len(self.numbers))

    @property
    def places(self) -> tuple[Place, ...]:
        """All places in the order of their numbers."""
        return tuple(self.numbers)


def host_of(place: Place, cluster: Cluster) -> int:
    """Return the host of a scale-up domain, or of one of its GPUs."""
    kind, number = place
    return number if kind == "domain" else number // cluster.host.gpus


def with_beside(wiring: Wiring, beside: Beside, network: Wiring, cluster: Cluster) -> Wiring:
    """Join the endpoints beside a network to its switches, and domains to NVLink switches.

    They follow the other endpoints, and their links all others: first those into switches.
    ``network`` is the wiring that nodes of places are numbered in.
    """
    places = beside.places
    if not places:
        return wiring
    hosts = {host_of(place, cluster) for place in places if place[0] != "switch"}
    domain_at = {host: wiring.switches + n for n, host in enumerate(sorted(hosts))}
    node, rate, wait_s = _joints(places, beside.reducing, network, cluster)
    at = [
        number if kind == "switch" else domain_at[host_of((kind, number), cluster)]
        for (kind, _), number in zip(places, node, strict=True)
    ]
    return with_ends(
        wiring, np.array(at), wiring.switches + len(hosts),
        bytes_per_s=np.array(rate), in_s=np.zeros(len(at)), out_s=np.array(wait_s),
    )  # fmt: skip


def _joints(
    places: Iterable[Place], reducing: Reducing, network: Wiring, cluster: Cluster
) -> tuple[list[int], list[float], list[float]]:
    """Return, by place, its switch (or its number), its rate, and the wait for a packet."""
    up = cluster.host.scale_up.bytes_per_s * reducing.wire_ratio
    all_of_it = SIDE_BY_SIDE * up * cluster.host.gpus
    of_domain = {"gpu": up, "domain": reducing.bytes_per_s or all_of_it}
    node, rate, wait_s = [], [], []
    for kind, number in places:
        if kind == "switch":
            brought = network.bytes_per_s[network.target == number]
            node.append(number - network.hosts)
            rate.append(reducing.bytes_per_s or SIDE_BY_SIDE * float(brought.sum()))
            wait_s.append(reducing.wait_bytes / float(brought.min()))
        else:
            node.append(number)
            rate.append(of_domain[kind])
            wait_s.append(reducing.wait_bytes / up if kind == "domain" else 0.0)
    return node, rate, wait_s


def names_beside(places: Iterable[Place], graph: Graph, cluster: Cluster) -> list[str]:
    """Name the endpoints beside a network."""
    nodes = node_names(graph)
    return [_name(place, nodes, cluster) for place in places]


def _name(place: Place, nodes: list[str], cluster: Cluster) -> str:
    kind, number = place
    if kind == "switch":
        return f"{nodes[number]} reducer"
    host = f"host{host_of(place, cluster)}"
    if kind == "domain":
        return f"{host} NVLink reducer"
    return f"{host}.gpu{number % cluster.host.gpus}"


def links_beside(
    places: tuple[Place, ...], graph: Graph, cluster: Cluster
) -> list[tuple[str, str]]:
    """Return name and layer of every link of those endpoints, in the order of the wiring."""
    nodes, tiers = node_names(graph), tiers_of(graph)
    into, out = [], []
    for place, name in zip(places, names_beside(places, graph, cluster), strict=True):
        kind, number = place
        far = nodes[number] if kind == "switch" else f"host{host_of(place, cluster)} NVLink"
        tier = tiers[number] if kind == "switch" else "NVLink"
        near = "GPU" if kind == "gpu" else "reducer"
        into.append((f"{name} to {far}", f"{near} to {tier}"))
        out.append((f"{far} to {name}", f"{tier} to {near}"))
    return into + out
