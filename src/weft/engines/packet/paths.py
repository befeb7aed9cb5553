"""What a flow would take if it were alone: links on its path, their latency, its ideal time."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from weft.engines.packet.balancing.ecmp import place_of
from weft.engines.packet.simulation import PS_PER_S, Flows, Options
from weft.engines.packet.wiring import Routes, Wiring
from weft.errors import Infeasible

LONGEST_PATH = 64
NO_PATH = (
    "some of the traffic has no path: the topology does not join rails; keep to one rail "
    "(algorithm: hierarchical), or choose topology.kind rail_optimized"
)
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Paths:
    """By flow: how many links, how long the head of a packet takes, the slowest link."""

    links: Ints
    latency_ps: Floats
    ps_per_byte: Floats
    hops_ps_per_byte: Floats
    """Of all links but the slowest, added up."""


def traced(wiring: Wiring, routes: Routes, flows: Flows, hashes: Ints | None = None) -> Ints:
    """Return the links of every flow, a column a hop; -1 behind its end.

    Each takes the link that ECMP gives its hash, as packets do; without hashes the first of
    the equal-cost links, which are equal where none is slower.
    """
    link = routes.uplink[flows.source].astype(np.int64)
    leaf = routes.leaf_of[flows.target]
    last = routes.last_link[flows.target]
    sizes = np.append(np.diff(routes.group_start), 1)  # one switch alone has no groups
    taken = [link]
    for _ in range(LONGEST_PATH):
        under_way = np.flatnonzero((link >= 0) & (wiring.target[link] != flows.target))
        if not len(under_way):
            return np.stack(taken, axis=1)
        switch = wiring.target[link[under_way]] - wiring.hosts
        group = routes.groups[switch * routes.leaves + leaf[under_way]].astype(np.int64)
        here = wiring.source[last[under_way]] - wiring.hosts == switch
        if (~here & (group < 0)).any():
            break
        group = np.maximum(group, 0)
        place = 0 if hashes is None else place_of(hashes[under_way], group, sizes[group])
        chosen = routes.group_links[routes.group_start[group] + place]
        link = np.full_like(link, -1)
        link[under_way] = np.where(here, last[under_way], chosen)
        taken.append(link)
    raise Infeasible(NO_PATH)


def split(wiring: Wiring, routes: Routes, flows: Flows) -> tuple[Ints, Ints, Floats]:
    """Return flow, link and share of the flow where every switch splits evenly.

    A switch gives each of its equal-cost links the same part of what comes to it, whatever
    lies behind: spraying, and adaptive routing as far as one switch can know.
    """
    flow = np.arange(len(flows.source))
    link = routes.uplink[flows.source].astype(np.int64)
    share: Floats = np.ones(len(flow))
    last, leaf = routes.last_link[flows.target], routes.leaf_of[flows.target]
    sizes = np.append(np.diff(routes.group_start), 1)  # one switch alone has no groups
    found = [(flow, link, share)]
    for _ in range(LONGEST_PATH):
        on = wiring.target[link] != flows.target[flow]
        flow, link, share = flow[on], link[on], share[on]
        if not len(flow):
            flows_of, links, shares = zip(*found, strict=True)
            return np.concatenate(flows_of), np.concatenate(links), np.concatenate(shares)
        switch = wiring.target[link] - wiring.hosts
        here = wiring.source[last[flow]] - wiring.hosts == switch
        group = np.maximum(0, routes.groups[switch * routes.leaves + leaf[flow]])
        ways = np.where(here, 1, sizes[group])
        place = np.arange(ways.sum()) - np.repeat(np.cumsum(ways) - ways, ways)
        flow, here, group = (np.repeat(item, ways) for item in (flow, here, group))
        share = np.repeat(share / ways, ways)
        chosen = routes.group_links[np.where(here, 0, routes.group_start[group] + place)]
        link = np.where(here, last[flow], chosen).astype(np.int64)
        keys, where = np.unique(flow * len(wiring.source) + link, return_inverse=True)
        share = np.bincount(where, share, len(keys)).astype(float)
        flow, link = np.divmod(keys, len(wiring.source))
        found.append((flow, link, share))
    raise Infeasible(NO_PATH)


def paths_of(wiring: Wiring, routes: Routes, flows: Flows, taken: Ints | None = None) -> Paths:
    """Return what the paths of flows are like; they take the first links unless given."""
    taken = traced(wiring, routes, flows) if taken is None else taken
    used = taken >= 0
    propagation = np.where(used, wiring.propagation_s[taken] * PS_PER_S, 0.0)
    slowness = np.where(used, PS_PER_S / wiring.bytes_per_s[taken], 0.0)
    slowest = slowness.max(axis=1, initial=0.0)
    return Paths(
        links=used.sum(axis=1), latency_ps=propagation.sum(axis=1), ps_per_byte=slowest,
        hops_ps_per_byte=slowness.sum(axis=1) - slowest,
    )  # fmt: skip


def ideal_ps(paths: Paths, flows: Flows, options: Options) -> Floats:
    """Return the time of each flow alone: T = S (1 + h/F) c + f c' + latency.

    f is the frame, or what a cut-through switch waits for; c the time of a byte on the slowest
    link, c' that on all others together.
    """
    packets = -(-flows.size_bytes // options.payload_bytes)
    wire_bytes = flows.size_bytes + packets * options.header_bytes
    frame = np.minimum(flows.size_bytes, options.payload_bytes) + options.header_bytes
    if options.cut_through_bytes is not None:
        frame = np.minimum(frame, options.cut_through_bytes)
    serial: Floats = wire_bytes * paths.ps_per_byte + frame * paths.hops_ps_per_byte
    return serial + paths.latency_ps


def hops_of(paths: Paths, flows: Flows, options: Options) -> int:
    """Return how many packet-hops the data of these flows takes without loss."""
    packets = -(-flows.size_bytes // options.payload_bytes)
    return int((packets * paths.links).sum())
