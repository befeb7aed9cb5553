"""Which port of which switch goes where: the real graph, as configurations name it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from weft.network import naming
from weft.network import network as resolver
from weft.spec.cluster import Cluster

if TYPE_CHECKING:
    from weft.network.graph import Graph


@dataclass(frozen=True, slots=True, kw_only=True)
class Port:
    """One cabled port of a switch and what is at the other end."""

    number: int
    """From 0; hosts first, then the switches of the tier above."""
    peer: str
    """Name of the host or switch."""
    peer_port: int
    """Port of the switch, or NIC of the host."""
    host: int | None
    """Number of the host where the peer is one."""
    plane: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Wired:
    """One switch with its cabled ports."""

    name: str
    tier: int
    number: int
    """Within its tier."""
    count: int
    """Over all tiers."""
    group: int
    """Pod or rail group of leaves and spines; -1 for cores."""
    ports: tuple[Port, ...]

    def kind(self, port: Port) -> str:
        """Return the kind of link of a port: ``host``, ``spine`` or ``core``."""
        if port.host is not None:
            return "host"
        leaf = self.tier == 0 or port.peer.startswith(naming.TIER_NAMES[0])
        return "spine" if leaf else "core"


def wired(cluster: Cluster) -> Iterator[Wired]:
    """Yield every switch of a cluster, tier by tier."""
    graph = resolver.graph(cluster)
    for vertex in range(graph.first[0], graph.vertices):
        yield _switch(graph, cluster, vertex)


def _switch(graph: "Graph", cluster: Cluster, vertex: int) -> Wired:
    tier = sum(vertex >= first for first in graph.first[1:3])
    number = vertex - graph.first[tier]
    first, stop = int(graph.start[vertex]), int(graph.start[vertex + 1])
    return Wired(
        name=naming.switch(tier, number), tier=tier, number=number,
        count=vertex - graph.first[0], group=int(graph.group[vertex]),
        ports=tuple(_port(graph, cluster, link, link - first) for link in range(first, stop)),
    )  # fmt: skip


def _port(graph: "Graph", cluster: Cluster, link: int, number: int) -> Port:
    peer = int(graph.target[link])
    if peer < graph.first[0]:
        host, nic = divmod(peer, graph.layout.site.nics_per_host)
        return Port(
            number=number, peer=naming.host(host, cluster.hosts), peer_port=nic, host=host,
            plane=int(graph.plane[link]),
        )  # fmt: skip
    tier = sum(peer >= first for first in graph.first[1:3])
    back = int(graph.reverse[link]) - int(graph.start[peer])
    return Port(
        number=number, peer=naming.switch(tier, peer - graph.first[tier]), peer_port=back,
        host=None, plane=int(graph.plane[link]),
    )  # fmt: skip
