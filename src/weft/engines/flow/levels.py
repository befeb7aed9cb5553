"""Find again the levels that an event has changed, and no others.

The level s of a link of capacity C solves, over its flows with weight w and limit d elsewhere::

    sum w min(s, d) = C        (infinite if sum w d < C)

A link whose level changes puts those links into the queue where one of its flows now has
another limit. This ends at the max-min fair rates, which are the only fixed point
[Charny 1995].
"""

import numpy as np

from weft.kernel import inner

INFINITE = np.inf
SAME = 1e-9
"""Relative change of a level that is rounding."""
ROUNDING = 1e-12
"""Share of its rate by which flows may exceed a link before it has a level."""


@inner
def queue_link(state, link_id):
    """Have the level of a link found again."""
    link = state.links[link_id]
    if link.queued == 0:
        link.queued = 1
        counts = state.counts[0]
        state.queue[counts.queued & counts.last_in_queue] = link_id
        counts.queued += 1


@inner
def take(state, link_id, bytes_per_s):
    """Take of what a link without a level has left; it is given one if that is too much."""
    level = state.levels[link_id]
    level.left_bytes_per_s -= bytes_per_s
    if level.left_bytes_per_s < 0.0:
        queue_link(state, link_id)


@inner
def _limit(path, link_id):
    """Return the level that a flow could have if a link had none."""
    return path.second if path.low_link == link_id else path.low


@inner
def _level_of(state, link_id):
    """Solve the equation of one link: lift the level until nobody below it is limited here."""
    link = state.links[link_id]
    limits = state.limits
    uses = link.uses
    weight = 0.0
    elsewhere = 0.0
    for place in range(uses):
        use = state.uses[link.first + place]
        limit = _limit(state.paths[use.flow], link_id)
        row = limits[place]
        row.level = limit
        row.weight = use.weight
        weight += use.weight
        elsewhere += use.weight * limit
    left = link.bytes_per_s * (1 + ROUNDING) - elsewhere
    state.levels[link_id].left_bytes_per_s = left
    if left >= 0.0:
        return INFINITE
    level = link.bytes_per_s / weight
    while True:
        left = link.bytes_per_s
        here = 0.0
        for place in range(uses):
            row = limits[place]
            if row.level < level:
                left -= row.weight * row.level
            else:
                here += row.weight
        if here <= 0.0:
            return level
        lifted = left / here
        if lifted <= level * (1 + 1e-13):
            return level
        level = lifted


@inner
def scan(state, path):
    """Find the two lowest levels on a path."""
    low = INFINITE
    second = INFINITE
    low_link = np.int64(-1)
    for hop in range(path.first, path.first + path.hops):
        link_id = state.hops[hop].link
        level = state.levels[link_id].level
        if level < low:
            second = low
            low = level
            low_link = np.int64(link_id)
        elif level < second:
            second = level
    path.low = low
    path.second = second
    path.low_link = low_link


@inner
def _follow(state, path, link_id, old, new):
    """Give a path a link's new level, looking at all its links only where that is needed."""
    if path.low_link == link_id:
        if new <= path.second:
            path.low = new
        else:
            scan(state, path)
    elif new < path.low:
        path.second = path.low
        path.low = new
        path.low_link = link_id
    elif new < path.second:
        path.second = new
    elif old <= path.second:
        scan(state, path)


@inner
def touch(state, flow_id):
    """Note that the rate of a flow may have changed."""
    path = state.paths[flow_id]
    if path.touched == 0:
        path.touched = 1
        counts = state.counts[0]
        state.touched[counts.touched] = flow_id
        counts.touched += 1


@inner
def _pass_on(state, flow_id, link_id, old, new):
    """Give one flow a link's new level, and queue the links for which the flow now differs.

    Where its lowest level stays, no link sees a difference: the next lowest is its limit for
    the link of the lowest alone, which is below both.
    """
    path = state.paths[flow_id]
    low, second, low_link = path.low, path.second, path.low_link
    _follow(state, path, link_id, old, new)
    if path.low == low:
        return
    touch(state, flow_id)
    for number in range(path.first, path.first + path.hops):
        hop = state.hops[number]
        other_id = hop.link
        if other_id == link_id:
            continue
        level = state.levels[other_id].level
        if level == INFINITE:
            take(state, other_id, hop.weight * (path.low - low))
            continue
        before = second if low_link == other_id else low
        if min(before, _limit(path, other_id)) < level:
            queue_link(state, other_id)


@inner
def settle(state):
    """Empty the queue: every level that still changes passes the change on."""
    counts = state.counts[0]
    head = np.int64(0)
    while head != counts.queued:
        link_id = state.queue[head & counts.last_in_queue]
        head += 1
        link = state.links[link_id]
        link.queued = 0
        counts.evaluations += 1
        new = _level_of(state, link_id)
        old = state.levels[link_id].level
        if new == old or abs(new - old) <= SAME * min(new, old):
            continue
        state.levels[link_id].level = new
        for place in range(link.first, link.first + link.uses):
            _pass_on(state, state.uses[place].flow, link_id, old, new)
    counts.queued = 0
