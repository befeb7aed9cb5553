"""Find all rates at once: progressive filling [Bertsekas & Gallager 1992, section 6.5.2].

The link that allows its flows least limits all of them; they are taken off every link of their
paths, and what those allow other flows only rises. So links without a flow in common may come
in any order: a link is final once none of its flows is allowed less elsewhere.
"""

from weft.engines.flow.levels import INFINITE, scan
from weft.engines.flow.tables import SENDING
from weft.kernel import inner

OPEN = -1.0
"""Lowest level of a flow that has none yet."""
TIE = 1e-12
"""Levels so close, relative to their size, are one: they differ by rounding."""


@inner
def fill(state):
    """Set the level of every link, and the lowest of every flow that sends."""
    counts = state.counts[0]
    _open(state)
    for link_id in range(counts.links):
        _close_from(state, link_id)
    for flow_id in range(counts.flows):
        if state.flows[flow_id].doing == SENDING:
            scan(state, state.paths[flow_id])


@inner
def _open(state):
    """Begin with all capacity free and no flow limited."""
    counts = state.counts[0]
    counts.queued = 0
    for flow_id in range(counts.flows):
        if state.flows[flow_id].doing == SENDING:
            state.paths[flow_id].low = OPEN
    for link_id in range(counts.links):
        link, level = state.links[link_id], state.levels[link_id]
        link.queued = 0
        link.open = link.uses
        link.weight = 0.0
        for place in range(link.first, link.first + link.uses):
            link.weight += state.uses[place].weight
        level.left_bytes_per_s = link.bytes_per_s
        level.level = INFINITE if link.uses == 0 else link.bytes_per_s / link.weight


@inner
def _close_from(state, link_id):
    """Close links until no flow of this one is open, those that allow its flows less first."""
    last = state.counts[0].last_in_queue
    depth = 0
    while state.links[link_id].open > 0:
        at = link_id if depth == 0 else state.queue[depth & last]
        lowest = _lowest_near(state, at)
        if lowest == at:
            _close(state, at)
            depth = max(depth - 1, 0)
        else:
            depth += 1
            state.queue[depth & last] = lowest


@inner
def _lowest_near(state, link_id):
    """Return the link that allows an open flow of a link least, be it the link itself."""
    link = state.links[link_id]
    level = state.levels[link_id].level * (1 - TIE)
    for place in range(link.first, link.first + link.uses):
        path = state.paths[state.uses[place].flow]
        if path.low != OPEN:
            continue
        for number in range(path.first, path.first + path.hops):
            other_id = state.hops[number].link
            other_level = state.levels[other_id].level
            if other_level < level:
                level = other_level
                link_id = other_id
    return link_id


@inner
def _close(state, link_id):
    """Give a link's level to its flows that have none yet."""
    link = state.links[link_id]
    level = state.levels[link_id].level
    for place in range(link.first, link.first + link.uses):
        path = state.paths[state.uses[place].flow]
        if path.low != OPEN:
            continue
        path.low = level
        for number in range(path.first, path.first + path.hops):
            hop = state.hops[number]
            other, row = state.links[hop.link], state.levels[hop.link]
            row.left_bytes_per_s -= hop.weight * level
            other.weight -= hop.weight
            other.open -= 1
            row.level = INFINITE
            if other.open > 0:
                row.level = max(row.left_bytes_per_s, 0.0) / other.weight
    state.levels[link_id].level = level
