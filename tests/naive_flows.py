"""The obvious twin of the flow engine: every rate again at every event, link by link."""

import math


def naive_rates(capacity, paths):
    """Fill up all flows together; ``paths`` are dicts of link -> weight."""
    rates = {flow: math.inf for flow, path in enumerate(paths) if not path}
    left = list(capacity)
    while len(rates) < len(paths):
        open_flows = [flow for flow in range(len(paths)) if flow not in rates]
        levels = {}
        for link in range(len(capacity)):
            weight = sum(paths[flow].get(link, 0.0) for flow in open_flows)
            if weight > 0:
                levels[link] = max(0.0, left[link]) / weight
        lowest = min(levels.values())
        limited = [link for link, level in levels.items() if level <= lowest * (1 + 1e-12)]
        for flow in open_flows:
            if any(link in paths[flow] for link in limited):
                rates[flow] = lowest
                for link, weight in paths[flow].items():
                    left[link] -= weight * lowest
    return [rates[flow] for flow in range(len(paths))]


def _send(left, rates, time):
    for flow, rate in rates.items():
        left[flow] -= rate * time


def naive_ends(capacity, paths, *, sizes, begins, delays, pairs, moves=None):
    """Return when each flow arrives; ``pairs`` are (before, after).

    With ``moves`` (stretch, limit, next paths) flows slower than the limit are looked for a
    stretch after the next event, and all then have the next paths.
    """
    looks = math.inf
    left, ends, sending, arriving = list(sizes), {}, set(), {}
    waits = {flow: {a for a, b in pairs if b == flow} for flow in range(len(paths))}
    begun, now = set(), 0.0
    while len(ends) < len(paths):
        ready = {
            flow: max([begins[flow], *(ends[one] for one in waits[flow])])
            for flow in range(len(paths))
            if flow not in begun and waits[flow] <= ends.keys()
        }
        active = sorted(sending)
        rates = dict(
            zip(active, naive_rates(capacity, [paths[f] for f in active]), strict=True)
        )
        sent = {flow: now + left[flow] / rates[flow] for flow in active}
        then = min([*ready.values(), *sent.values(), *arriving.values()])
        if moves and looks == math.inf:
            looks = max(now, then) + moves[0]
        if looks < then:
            _send(left, rates, looks - now)
            now, looks = looks, math.inf
            if any(rates[flow] < moves[1] for flow in active):
                paths = moves[2]()
                looks = now + moves[0]
            continue
        close = then * (1 + 1e-9)
        _send(left, rates, then - now)
        now = then
        for flow in [flow for flow, at in sent.items() if at <= close]:
            sending.remove(flow)
            arriving[flow] = now + delays[flow]
        for flow in [flow for flow, at in arriving.items() if at <= close]:
            ends[flow] = arriving.pop(flow)
        for flow in [flow for flow, at in ready.items() if at <= close]:
            begun.add(flow)
            if paths[flow] and sizes[flow]:
                sending.add(flow)
            else:
                arriving[flow] = now + delays[flow]
    return [ends[flow] for flow in range(len(paths))]


def _bisected(total, most, wanted):
    """Return x with total(x) = wanted, for a sum that grows with x."""
    low, high = 0.0, most
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if total(middle) < wanted else (low, middle)
    return high


def naive_rates_by_class(capacity, paths, kinds, *, weights, priorities, order):
    """Solve link by link, in some order, again and again; sums are solved by bisection.

    ``kinds`` are the classes of flows, ``weights`` and ``priorities`` are by class.
    """
    levels, changed = {}, math.inf
    while changed > 1e-11:
        changed = 0.0
        for link in order:
            mine = {kind: [] for kind in range(len(weights))}
            for path, kind in zip(paths, kinds, strict=True):
                if link in path:
                    others = (levels.get((one, kind), math.inf) for one in path if one != link)
                    mine[kind].append((path[link], min(others, default=math.inf)))
            found = _naive_levels(capacity[link], mine, weights, priorities)
            for kind, level in found.items():
                old = levels.get((link, kind), math.inf)
                if level != old:
                    changed = max(changed, abs(level - old) / max(1e-9, min(level, old)))
                levels[link, kind] = level
    return [
        min((levels[link, kind] for link in path), default=math.inf)
        for path, kind in zip(paths, kinds, strict=True)
    ]


def _naive_levels(left, mine, weights, priorities):
    """Return by class the level that a link gives it; ``mine`` are (weight, limit) by class."""
    wanted = {kind: sum(w * d for w, d in flows) for kind, flows in mine.items()}
    found = {}
    for priority in sorted(set(priorities), reverse=True):
        peers = [kind for kind in wanted if priorities[kind] == priority]
        if sum(wanted[kind] for kind in peers) <= left:
            found |= dict.fromkeys(peers, math.inf)
            left -= sum(wanted[kind] for kind in peers)
            continue
        most = left / min(weights[kind] for kind in peers if wanted[kind])
        x = _bisected(
            lambda x, peers=peers: sum(min(wanted[k], weights[k] * x) for k in peers),
            most,
            left,
        )
        for kind in peers:
            found[kind] = _naive_level(mine[kind], wanted[kind], weights[kind] * x)
        left = 0.0
    return found


def _naive_level(flows, wanted, share):
    if wanted <= share * (1 + 1e-12):
        return math.inf
    most = share / min(w for w, _ in flows)
    return _bisected(lambda s: sum(w * min(s, d) for w, d in flows), most, share)
