"""Routes that forwarding tables name: every switch has one next link to every port.

A destination port is then a leaf of its own, whose groups hold one link. Switches that reduce
and the lines that let time pass have no entries: they keep their shortest routes.
"""

from dataclasses import replace

import numpy as np

from weft.engines.packet.inside import inside_of
from weft.engines.packet.schedules import Fabric, Schedule, fabric_of
from weft.engines.packet.wiring import Routes, shortest_routes
from weft.network.forwarding import Links, read_forwarding
from weft.spec.scenario import Scenario

STATIC = "static"
NONE = -1


def scenario_fabric(scenario: Scenario) -> Fabric:
    """Wire the network of a scenario, and read its forwarding tables where it names some."""
    network = scenario.network
    fabric = fabric_of(scenario.cluster, network.bit_error_ratio, inside_of(scenario))
    if network.balancing != STATIC:
        return fabric
    tables = read_forwarding(scenario.cluster, fabric.graph, network.routes)
    return replace(fabric, forwarding=tables)


def routes_of(schedule: Schedule, fabric: Fabric) -> Routes:
    """Return the routes of a schedule: by the tables of its fabric, or all the shortest."""
    shortest = shortest_routes(schedule.wiring)
    if fabric.forwarding is None:
        return shortest
    return _with_tables(shortest, fabric, fabric.forwarding.links)


def _with_tables(shortest: Routes, fabric: Fabric, links: Links) -> Routes:
    """Put a column a port before those of the leaves, and a group a link behind the others."""
    ports, network = fabric.wiring.hosts, fabric.wiring
    old = shortest.groups.reshape(-1, shortest.leaves)
    first = len(shortest.group_start) - 1
    by_port = np.full((len(old), ports), NONE, np.int32)
    named = links >= 0
    if fabric.inside is None:  # the link to a host is its last, which no group holds
        named &= network.target[links] >= ports
    by_port[: network.switches] = np.where(named, first + links, NONE)
    if fabric.inside is not None:  # a NIC is a switch: to all but its own host it sends up
        uplinks = np.flatnonzero(network.source < ports)
        nics = network.switches + network.source[uplinks]
        by_port[nics] = (first + uplinks)[:, None]
        by_port[nics, network.source[uplinks]] = NONE
    lanes = ports * fabric.lanes
    every = np.arange(len(network.source), dtype=np.int32)
    end = int(shortest.group_start[-1])
    return replace(
        shortest,
        leaf_of=np.concatenate(
            [np.arange(lanes) // fabric.lanes, ports + shortest.leaf_of[lanes:]]
        ).astype(np.int32),
        leaves=ports + shortest.leaves,
        groups=np.concatenate([by_port, old], axis=1).ravel(),
        group_start=np.append(shortest.group_start, end + 1 + every),
        group_links=np.concatenate([shortest.group_links[:end], every]),
    )
