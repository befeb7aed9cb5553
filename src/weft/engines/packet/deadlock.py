"""Cyclic buffer dependencies: could pauses wait for one another, and do they now?

A link (in a traffic class) waits for the links on which the packets go on that its receiver
holds of it. Where that relation has a cycle, pauses (or credits) can stop the cycle for ever.
[Hu et al., Tagger, CoNEXT 2017] Routes that go up and then down have none.
"""

from collections.abc import Mapping
from graphlib import CycleError, TopologicalSorter

import numpy as np

from weft.engines.packet.tables import State
from weft.engines.packet.wiring import Routes, Wiring

Waits = Mapping[int, set[int]]


def possible_deadlock(wiring: Wiring, routes: Routes) -> tuple[int, ...]:
    """Return links that could wait for one another in a circle; empty if none can."""
    return _cycle(_could_wait(wiring, routes))


def deadlock(state: State) -> tuple[int, ...]:
    """Return links that wait for one another in a circle now; empty if none do."""
    return _cycle(_waits(state))


def _could_wait(wiring: Wiring, routes: Routes) -> Waits:
    """Follow every destination leaf: a link into a switch waits for those that leave it."""
    hosts = wiring.hosts
    groups = routes.groups.reshape(wiring.switches, routes.leaves)
    start, links = routes.group_start, routes.group_links
    waits: dict[int, set[int]] = {}
    for leaf in range(routes.leaves):
        seen: set[int] = set()
        todo = [int(link) for link in routes.uplink]
        while todo:
            link = todo.pop()
            group = int(groups[wiring.target[link] - hosts, leaf])
            if link in seen or group < 0:
                continue
            seen.add(link)
            further = [int(one) for one in links[start[group] : start[group + 1]]]
            waits.setdefault(link, set()).update(further)
            todo += further
    return waits


def _waits(state: State) -> Waits:
    """Read from the queues which stopped link holds packets of which other one."""
    stopped = (state.links.paused != 0) | (state.links.blocked != 0)
    waits: dict[int, set[int]] = {}
    for link in np.flatnonzero(stopped & (state.links.data_head >= 0)).tolist():
        packet = int(state.links.data_head[link])
        while packet >= 0:
            waits.setdefault(int(state.packets.ingress[packet]), set()).add(link)
            packet = int(state.packets.next[packet])
    return waits


def _cycle(waits: Waits) -> tuple[int, ...]:
    """Find one cycle: every link in it waits for the next, the last for the first."""
    try:
        TopologicalSorter(waits).prepare()
    except CycleError as error:
        return tuple(reversed(error.args[1][1:]))
    return ()
