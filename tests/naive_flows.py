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


def naive_ends(capacity, paths, *, sizes, begins, delays, pairs):
    """Return when each flow arrives; ``pairs`` are (before, after)."""
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
        close = then * (1 + 1e-9)
        for flow in active:
            left[flow] -= rates[flow] * (then - now)
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
