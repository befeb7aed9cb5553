"""Ask for what a part of the network will touch in its turn, all at once.

Memory takes a hundred times longer than the nearest cache, but it answers many requests at the
same time. Nothing here changes a result.
"""

from weft.kernel import inner, prefetch

LINK_LINES, FLOW_LINES = 2, 2
"""Cache lines of a link and of a flow that a packet touches."""
KEYS_A_LINE, CHILDREN = 8, 4


@inner
def fetch(state, part):
    """Fetch the links of a part, the packets at both ends of them, and the flows of its hosts.

    A short turn touches few of them; how long it will be is taken from the last one.
    """
    if part.events < part.last - part.first:
        return
    _fetch_events(state.tree, part)
    for place in range(part.first, part.last):
        for line in range(LINK_LINES):
            prefetch(state.links, state.part_links[place], line)
    for place in range(part.first, part.last):
        _fetch_ends(state, state.links[state.part_links[place]])
    for place in range(part.first, part.last):
        _fetch_next(state, state.links[state.part_links[place]])


@inner
def _fetch_events(tree, part):
    """Fetch a subtree of events, level by level, but for those that are rare."""
    first = part.root
    count = 1
    for _ in range(part.levels):
        first *= CHILDREN
        count *= CHILDREN
        for place in range(first, first + min(count, part.often), KEYS_A_LINE):
            prefetch(tree, place, 0)


@inner
def _fetch_ends(state, link):
    _fetch_packet(state, link.wire_head)
    _fetch_packet(state, link.wire_tail)
    _fetch_packet(state, link.data_head)
    _fetch_packet(state, link.data_tail)
    if link.target < state.settings[0].hosts:
        prefetch(state.hosts, link.target, 0)


@inner
def _fetch_next(state, link):
    """Fetch the second packets; those behind them are fetched one by one as these go."""
    hosts = state.settings[0].hosts
    first = state.packets[max(0, link.wire_head)]
    _fetch_packet(state, first.next)
    _fetch_packet(state, state.packets[max(0, link.data_head)].next)
    if link.target < hosts:
        _fetch_flow(state, first.flow)
    if link.source < hosts:
        _fetch_flow(state, state.hosts[link.source].turn)


@inner
def _fetch_packet(state, packet_id):
    prefetch(state.packets, max(0, packet_id), 0)


@inner
def _fetch_flow(state, flow_id):
    for line in range(FLOW_LINES):
        prefetch(state.flows, max(0, flow_id), line)
