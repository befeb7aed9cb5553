"""A network of weft as the packet engine wants it: the graph's links, one endpoint a NIC port.

A NIC that is split over several planes becomes one endpoint a plane, since each of its ports
sends on its own.
"""

import numpy as np

from weft.catalogue.devices import Switch
from weft.engines.packet.wiring import Wiring
from weft.network.graph import Graph, Ints

LIGHT_IN_GLASS_S_PER_M = 5e-9
"""Propagation in fibre or copper [catalogue notes: 4.5 to 5.0 ns/m]."""


def wiring_of(graph: Graph) -> Wiring:
    """Turn a graph into links with a propagation time.

    The latency of a switch is added to the links that leave it: the engine's switches forward
    at once.
    """
    planes = graph.layout.planes
    endpoints = graph.endpoints * planes
    switches = graph.vertices - graph.endpoints
    source = _vertex(graph, graph.source, graph.plane)
    target = _vertex(graph, graph.target, graph.plane)
    return Wiring(
        hosts=endpoints,
        switches=switches,
        source=source,
        target=target,
        bytes_per_s=graph.rate_bytes_per_s.astype(np.float64),
        propagation_s=graph.length_m * LIGHT_IN_GLASS_S_PER_M
        + np.where(source >= endpoints, _switch_s(graph.layout.site.switch), 0.0),
    )


def endpoint(graph: Graph, host: int, nic: int, plane: int = 0) -> int:
    """Return the endpoint of one NIC of one host on one plane."""
    port = host * graph.layout.site.nics_per_host + nic
    return port * graph.layout.planes + plane


def _vertex(graph: Graph, vertex: Ints, plane: Ints) -> Ints:
    """Number endpoints by port and plane, then switches."""
    planes = graph.layout.planes
    is_port = vertex < graph.endpoints
    moved = vertex - graph.endpoints + graph.endpoints * planes
    return np.where(is_port, vertex * planes + plane, moved)


def _switch_s(switch: Switch) -> float:
    return 0.0 if switch.latency_s is None else switch.latency_s.value
