"""Routes that forwarding tables name: every switch has one next link to every port.

A destination port is then a leaf of its own, whose groups hold one link. Switches that reduce
and the lines that let time pass have no entries: they keep their shortest routes. Where the
cluster says static and no tables are named, destinations are dealt out over the links in turn.
"""

from dataclasses import replace

import numpy as np

from weft.engines.packet.inside import inside_of
from weft.engines.packet.names import TIERS, tiers_of
from weft.engines.packet.schedules import Fabric, Schedule, fabric_of
from weft.engines.packet.settings import balancing_of
from weft.engines.packet.wiring import Ints, Routes, Wiring, shortest_routes
from weft.network.forwarding import Forwarding, Links, read_forwarding
from weft.network.network import resolve
from weft.spec.scenario import Scenario

STATIC = "static"
NONE = -1


def scenario_fabric(scenario: Scenario) -> Fabric:
    """Wire the network of a scenario, and read its forwarding tables where it names some."""
    network = scenario.network
    fabric = fabric_of(
        scenario.cluster, network.bit_error_ratio, inside_of(scenario), scenario.faults
    )
    kind = resolve(scenario.cluster).fabric
    if balancing_of(network, scenario.cluster, kind) != STATIC:
        return fabric
    if network.balancing != STATIC:
        return replace(fabric, forwarding=by_destination(fabric))
    tables = read_forwarding(scenario.cluster, fabric.graph, network.routes)
    return replace(fabric, forwarding=tables)


def by_destination(fabric: Fabric) -> Forwarding:
    """Return tables as a subnet manager of a fat tree writes them: by destination modulo links.

    Ports are numbered leaf by leaf. On the way up a leaf sends port p up its link p mod K, the
    next tier up p / K mod K'; on the way down packets come to the leaf by the very switch and
    cable that it would send up for p, so the ports of a leaf share none (D-mod-K).
    """
    wiring, tiers = fabric.wiring, _tiers(fabric)
    routes = shortest_routes(wiring)
    table = routes.groups.astype(np.int64).reshape(wiring.switches, routes.leaves)
    sizes = np.diff(routes.group_start)
    number = np.empty(wiring.hosts, np.int64)
    number[np.argsort(routes.leaf_of, kind="stable")] = np.arange(wiring.hosts)
    below = np.ones(len(TIERS) + 1, np.int64)  # links up of all the tiers below
    for tier in range(len(TIERS)):
        groups = table[tiers == tier]
        below[tier + 1] = below[tier] * int(sizes[groups[groups >= 0]].max(initial=1))
    way = _ways_down(wiring, routes, table, number, int(below[1]))
    links = np.full((wiring.switches, wiring.hosts), NONE, np.int32)
    for switch, row in enumerate(table):
        for group in np.unique(row[row >= 0]).tolist():
            ports = np.flatnonzero(row[routes.leaf_of] == group)
            start, end = routes.group_start[group : group + 2]
            choice = routes.group_links[start:end].astype(np.int64)
            up = number[ports] // below[tiers[switch]] % len(choice)
            place = _down(wiring, choice, way[ports], up)
            links[switch, ports] = choice[place]
    return Forwarding(links=links, files=(), sha256="", entries=int((links >= 0).sum()))


def _tiers(fabric: Fabric) -> Ints:
    names = tiers_of(fabric.graph)[fabric.wiring.hosts :]
    return np.array([TIERS.index(name) for name in names], np.int64)


def _ways_down(wiring: Wiring, routes: Routes, table: Ints, number: Ints, ups: int) -> Ints:
    """Return (leaf, switch above, which cable between them) of every port, as nodes."""
    leaf_switch = wiring.target[routes.uplink]
    found = np.full((wiring.hosts, 3), NONE, np.int64)
    found[:, 0] = leaf_switch
    for leaf in np.unique(leaf_switch):
        groups = table[leaf - wiring.hosts]
        groups = groups[groups >= 0]
        if not len(groups):
            continue
        widest = max(
            groups.tolist(), key=lambda g: routes.group_start[g + 1] - routes.group_start[g]
        )
        above = wiring.target[
            routes.group_links[slice(*routes.group_start[widest : widest + 2])]
        ]
        cable = np.array([int((above[:at] == item).sum()) for at, item in enumerate(above)])
        ports = np.flatnonzero(leaf_switch == leaf)
        chosen = number[ports] % ups % len(above)
        found[ports, 1], found[ports, 2] = above[chosen], cable[chosen]
    return found


def _down(wiring: Wiring, choice: Ints, way: Ints, up: Ints) -> Ints:
    """Return which link of a choice leads down to each port; where none does, that up."""
    ends = wiring.target[choice]
    place = up.copy()
    for column in (1, 0):  # the switch above its leaf, then the leaf itself
        for end in np.unique(ends):
            fitting = np.flatnonzero(ends == end)
            here = way[:, column] == end
            place[here] = fitting[way[here, 2] % len(fitting)]
    return place


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
