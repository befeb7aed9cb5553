"""From event to event: flows begin, have sent all, arrive, and let others begin."""

from weft.engines.flow.filling import fill
from weft.engines.flow.levels import INFINITE, queue_link, scan, settle, take, touch
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
        flow_id = first(state)
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
        for place in range(counts.touched):
            _admit(state, state.touched[place])
        settle(state)
    _take_rates(state)


@inner
def _refill(state):
    """Find all rates afresh; any of them may differ."""
    for flow_id in range(state.counts[0].flows):
        if state.flows[flow_id].doing == SENDING:
            touch(state, flow_id)
    fill(state)


@inner
def _begin(state, flow_id):
    """Let a flow send; one without links, or without bytes, is on its way at once."""
    counts = state.counts[0]
    flow = state.flows[flow_id]
    flow.begin_s = counts.now_s
    if state.paths[flow_id].hops == 0 or flow.left_bytes <= 0.0:
        _travel(state, flow_id)
        return 0
    flow.doing = SENDING
    flow.last_s = counts.now_s
    counts.sending += 1
    put(state, flow_id, INFINITE)
    _join(state, flow_id)
    touch(state, flow_id)
    return 1


@inner
def _join(state, flow_id):
    """Put a flow into the uses of its links."""
    path = state.paths[flow_id]
    for number in range(path.first, path.first + path.hops):
        hop = state.hops[number]
        link = state.links[hop.link]
        hop.use = link.first + link.uses
        use = state.uses[hop.use]
        use.flow = flow_id
        use.hop = number
        use.weight = hop.weight
        link.uses += 1


@inner
def _admit(state, flow_id):
    """Let a flow that has begun take what its links allow now."""
    path = state.paths[flow_id]
    scan(state, path)
    for number in range(path.first, path.first + path.hops):
        hop = state.hops[number]
        if state.levels[hop.link].level == INFINITE:
            take(state, hop.link, hop.weight * path.low)
        else:
            queue_link(state, hop.link)


@inner
def _finish(state, flow_id):
    """Take a flow that has sent all off its links."""
    counts = state.counts[0]
    flow, path = state.flows[flow_id], state.paths[flow_id]
    for number in range(path.first, path.first + path.hops):
        hop = state.hops[number]
        link = state.links[hop.link]
        link.uses -= 1
        last = state.uses[link.first + link.uses]
        gap = state.uses[hop.use]
        gap.flow = last.flow
        gap.hop = last.hop
        gap.weight = last.weight
        state.hops[last.hop].use = hop.use
        if state.levels[hop.link].level == INFINITE:
            take(state, hop.link, -hop.weight * path.low)
        else:
            queue_link(state, hop.link)
    counts.sending -= 1
    flow.left_bytes = 0.0
    _travel(state, flow_id)


@inner
def _travel(state, flow_id):
    """Let the last byte of a flow arrive after its delay."""
    flow = state.flows[flow_id]
    if flow.delay_s == 0.0:
        _arrive(state, flow_id)
        return
    flow.doing = ARRIVING
    put(state, flow_id, state.counts[0].now_s + flow.delay_s)


@inner
def _arrive(state, flow_id):
    """End a flow, and let those begin that waited for it alone."""
    counts = state.counts[0]
    flow = state.flows[flow_id]
    flow.end_s = counts.now_s
    flow.doing = ENDED
    counts.left -= 1
    put(state, flow_id, INFINITE)
    for place in range(flow.after, flow.after + flow.followers):
        other_id = state.followers[place]
        other = state.flows[other_id]
        other.waits -= 1
        if other.waits == 0:
            put(state, other_id, max(counts.now_s, other.begin_s))


@inner
def _take_rates(state):
    """Give flows their new rates, and move the times at which they have sent all."""
    counts = state.counts[0]
    for place in range(counts.touched):
        flow_id = state.touched[place]
        flow, path = state.flows[flow_id], state.paths[flow_id]
        path.touched = 0
        if flow.doing != SENDING:
            continue
        sent_bytes = flow.rate * (counts.now_s - flow.last_s)
        flow.left_bytes = max(0.0, flow.left_bytes - sent_bytes)
        flow.last_s = counts.now_s
        flow.rate = path.low
        time_s = counts.now_s + flow.left_bytes / flow.rate
        put(state, flow_id, time_s)
    counts.touched = 0
