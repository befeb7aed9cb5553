"""Which links of a network could wait for one another in a circle."""

from weft.engines.packet.deadlock import cycle_of


def possible_deadlock(wiring, routes):
    """Return links that could wait for one another in a circle; empty if none can."""
    return cycle_of(_could_wait(wiring, routes))


def _could_wait(wiring, routes):
    """Follow every destination leaf: a link into a switch waits for those that leave it."""
    hosts = wiring.hosts
    groups = routes.groups.reshape(wiring.switches, routes.leaves)
    start, links = routes.group_start, routes.group_links
    waits = {}
    for leaf in range(routes.leaves):
        seen = set()
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
