"""Cyclic buffer dependencies: do pauses wait for one another?

A link (in a traffic class) waits for the links on which the packets go on that its receiver
holds of it. Where that relation has a cycle, pauses (or credits) can stop the cycle for ever.
[Hu et al., Tagger, CoNEXT 2017] Routes that go up and then down have none.
"""

from collections.abc import Mapping
from graphlib import CycleError, TopologicalSorter

import numpy as np

from weft.engines.packet.tables import State

Waits = Mapping[int, set[int]]


def deadlock(state: State) -> tuple[int, ...]:
    """Return links that wait for one another in a circle now; empty if none do."""
    return cycle_of(_waits(state))


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


def cycle_of(waits: Waits) -> tuple[int, ...]:
    """Find one cycle: every link in it waits for the next, the last for the first."""
    try:
        TopologicalSorter(waits).prepare()
    except CycleError as error:
        return tuple(reversed(error.args[1][1:]))
    return ()
