"""From event to event: flows begin, have sent all, arrive, and let others begin."""

from weft.engines.flow.filling import fill
from weft.engines.flow.levels import INFINITE, queue_link, settle, touch
from weft.engines.flow.tables import ARRIVING, ENDED, SENDING, WAITING
from weft.engines.flow.tree import first, put
from weft.kernel import entry, inner


@entry
def fill_rates(state):
    """Let every flow send, and find the rates of all."""
    for flow_id in range(state.counts[0].flows):
        state.flows[flow_id].doing = SENDING
        _join(state, flow_id)
    fill(state)


@entry
def run(state, until_s, most_events):
    """Follow events until all flows have arrived, nothing can happen, or a limit is reached."""
    counts = state.counts[0]
    while counts.left > 0 and counts.events < most_events:
        time_s = state.tree[1]
        if time_s > until_s or time_s == INFINITE:
            return
        _step(state, time_s * (1 + counts.slack_ratio))


@inner
def _step(state, horizon_s):
    """Let all happen that happens now, then find the rates that follow."""
    counts = state.counts[0]
    counts.events += 1
    before = counts.sending
    begun = 0
    while state.tree[1] <= horizon_s:
        flow_id = first(state.tree, counts.first_leaf)
        counts.now_s = state.tree[1]
        doing = state.flows[flow_id].doing
        if doing == WAITING:
            begun += _begin(state, flow_id)
        elif doing == SENDING:
            _finish(state, flow_id)
        else:
            _arrive(state, flow_id)
    # Where most flows are new, filling up all links is less work than following each change.
    if begun > before:
        _refill(state)
    else:
        settle(state)
    _take_rates(state)


@inner
def _refill(state):
    counts = state.counts[0]
    for link_id in range(counts.links):
        state.links[link_id].queued = 0
    counts.queued = 0
    for flow_id in range(counts.flows):
        if state.flows[flow_id].doing == SENDING:
            touch(state, flow_id)
            _progress(state, flow_id)
    fill(state)


@inner
def _begin(state, flow_id):
    """Let a flow send; one without links, or without bytes, is on its way at once."""
    counts = state.counts[0]
    flow = state.flows[flow_id]
    flow.begin_s = counts.now_s
    if flow.hops == 0 or flow.left_bytes <= 0.0:
        flow.doing = ARRIVING
        put(state.tree, counts.first_leaf, flow_id, counts.now_s + flow.delay_s)
        return 0
    flow.doing = SENDING
    flow.last_s = counts.now_s
    flow.rate = 0.0
    flow.low = flow.second = INFINITE
    flow.low_link = -1
    counts.sending += 1
    put(state.tree, counts.first_leaf, flow_id, INFINITE)
    _join(state, flow_id)
    touch(state, flow_id)
    return 1


@inner
def _join(state, flow_id):
    """Put a flow into the uses of its links."""
    flow = state.flows[flow_id]
    for number in range(flow.first, flow.first + flow.hops):
        hop = state.hops[number]
        link = state.links[hop.link]
        hop.use = link.first + link.uses
        use = state.uses[hop.use]
        use.flow = flow_id
        use.hop = number
        use.weight = hop.weight
        link.uses += 1
        level = link.level
        if level < flow.low:
            flow.second = flow.low
            flow.low = level
            flow.low_link = hop.link
        elif level < flow.second:
            flow.second = level
        queue_link(state, hop.link)


@inner
def _finish(state, flow_id):
    """Take a flow that has sent all off its links."""
    counts = state.counts[0]
    flow = state.flows[flow_id]
    for number in range(flow.first, flow.first + flow.hops):
        hop = state.hops[number]
        link = state.links[hop.link]
        link.uses -= 1
        last = state.uses[link.first + link.uses]
        gap = state.uses[hop.use]
        gap.flow = last.flow
        gap.hop = last.hop
        gap.weight = last.weight
        state.hops[last.hop].use = hop.use
        queue_link(state, hop.link)
    counts.sending -= 1
    flow.left_bytes = 0.0
    flow.doing = ARRIVING
    put(state.tree, counts.first_leaf, flow_id, counts.now_s + flow.delay_s)


@inner
def _arrive(state, flow_id):
    """End a flow, and let those begin that waited for it alone."""
    counts = state.counts[0]
    flow = state.flows[flow_id]
    flow.end_s = counts.now_s
    flow.doing = ENDED
    counts.left -= 1
    put(state.tree, counts.first_leaf, flow_id, INFINITE)
    for place in range(flow.after, flow.after + flow.followers):
        other_id = state.followers[place]
        other = state.flows[other_id]
        other.waits -= 1
        if other.waits == 0:
            put(state.tree, counts.first_leaf, other_id, max(counts.now_s, other.begin_s))


@inner
def _progress(state, flow_id):
    """Count what a flow has sent until now."""
    flow = state.flows[flow_id]
    now_s = state.counts[0].now_s
    flow.left_bytes = max(0.0, flow.left_bytes - flow.rate * (now_s - flow.last_s))
    flow.last_s = now_s


@inner
def _take_rates(state):
    """Give flows their new rates, and move the times at which they have sent all."""
    counts = state.counts[0]
    for place in range(counts.touched):
        flow_id = state.touched[place]
        flow = state.flows[flow_id]
        flow.touched = 0
        if flow.doing != SENDING:
            continue
        _progress(state, flow_id)
        flow.rate = flow.low
        time_s = counts.now_s + flow.left_bytes / flow.rate
        put(state.tree, counts.first_leaf, flow_id, time_s)
    counts.touched = 0
