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
def _limit(flow, link_id):
    """Return the level that a flow could have if a link had none."""
    return flow.second if flow.low_link == link_id else flow.low


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
        limit = _limit(state.flows[use.flow], link_id)
        row = limits[place]
        row.level = limit
        row.weight = use.weight
        weight += use.weight
        elsewhere += use.weight * limit
    if uses == 0 or elsewhere < link.bytes_per_s * (1 - 1e-12):
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
def scan(state, flow):
    """Find the two lowest levels on the path of a flow."""
    low = INFINITE
    second = INFINITE
    low_link = np.int64(-1)
    for hop in range(flow.first, flow.first + flow.hops):
        link_id = state.hops[hop].link
        level = state.links[link_id].level
        if level < low:
            second = low
            low = level
            low_link = np.int64(link_id)
        elif level < second:
            second = level
    flow.low = low
    flow.second = second
    flow.low_link = low_link


@inner
def _follow(state, flow, link_id, old, new):
    """Let a flow know a link's new level, looking at its whole path only where it must."""
    if flow.low_link == link_id:
        if new <= flow.second:
            flow.low = new
        else:
            scan(state, flow)
    elif new < flow.low:
        flow.second = flow.low
        flow.low = new
        flow.low_link = link_id
    elif old <= flow.second:
        scan(state, flow)
    elif new < flow.second:
        flow.second = new


@inner
def touch(state, flow_id):
    """Note that the rate of a flow may have changed."""
    flow = state.flows[flow_id]
    if flow.touched == 0:
        flow.touched = 1
        counts = state.counts[0]
        state.touched[counts.touched] = flow_id
        counts.touched += 1


@inner
def _pass_on(state, flow_id, link_id, old, new):
    """Tell one flow of a link's new level, and queue the links for which it now differs."""
    flow = state.flows[flow_id]
    low, second, low_link = flow.low, flow.second, flow.low_link
    _follow(state, flow, link_id, old, new)
    touch(state, flow_id)
    if flow.low == low and flow.second == second:
        return
    for hop in range(flow.first, flow.first + flow.hops):
        other_id = state.hops[hop].link
        other = state.links[other_id]
        if other.queued or other_id == link_id:
            continue
        before = second if low_link == other_id else low
        after = _limit(flow, other_id)
        if before == after:
            continue
        if other.level < INFINITE:
            relevant = before < other.level or after < other.level
        else:
            relevant = after > before  # with less to carry a link limits nobody either
        if relevant:
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
        old = link.level
        if new == old or abs(new - old) <= SAME * min(new, old):
            continue
        link.level = new
        for place in range(link.first, link.first + link.uses):
            _pass_on(state, state.uses[place].flow, link_id, old, new)
    counts.queued = 0
