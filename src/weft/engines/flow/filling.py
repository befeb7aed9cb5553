"""Find all rates at once by progressive filling [Bertsekas & Gallager 1992, section 6.5.2].

The link that allows its flows least limits all of them; they are taken off every link of their
paths, and the next link follows. What a link allows only rises on the way, so its place in the
tree may be too early, and is looked at again when its turn comes.
"""

from weft.engines.flow.levels import INFINITE, scan
from weft.engines.flow.tables import SENDING
from weft.engines.flow.tree import first, put
from weft.kernel import inner


@inner
def fill(state):
    """Set the level of every link and the rate of every flow that sends."""
    counts = state.counts[0]
    _open(state)
    leaf = counts.first_link_leaf
    while state.link_tree[1] < INFINITE:
        link_id = first(state.link_tree, leaf)
        link = state.links[link_id]
        level = INFINITE
        if link.open > 0:
            level = max(link.left_bytes_per_s, 0.0) / link.weight
        if level <= state.link_tree[1] * (1 + 1e-12):
            _close(state, link_id, level)
            level = INFINITE
        put(state.link_tree, leaf, link_id, level)
    for flow_id in range(counts.flows):
        flow = state.flows[flow_id]
        if flow.doing == SENDING:
            scan(state, flow)


@inner
def _open(state):
    """Begin with all capacity free and no flow limited."""
    counts = state.counts[0]
    for flow_id in range(counts.flows):
        flow = state.flows[flow_id]
        if flow.doing == SENDING:
            flow.rate = -1.0
    for link_id in range(counts.links):
        link = state.links[link_id]
        link.level = INFINITE
        link.left_bytes_per_s = link.bytes_per_s
        link.open = link.uses
        link.weight = 0.0
        for place in range(link.first, link.first + link.uses):
            link.weight += state.uses[place].weight
        bound = INFINITE if link.uses == 0 else link.bytes_per_s / link.weight
        put(state.link_tree, counts.first_link_leaf, link_id, bound)


@inner
def _close(state, link_id, level):
    """Give a link's level to its flows that have no rate yet."""
    link = state.links[link_id]
    link.level = level
    for place in range(link.first, link.first + link.uses):
        flow = state.flows[state.uses[place].flow]
        if flow.rate >= 0.0:
            continue
        flow.rate = level
        for number in range(flow.first, flow.first + flow.hops):
            hop = state.hops[number]
            other = state.links[hop.link]
            other.left_bytes_per_s -= hop.weight * level
            other.weight -= hop.weight
            other.open -= 1
