"""What a flow would take if it were alone: links on its path, their latency, its ideal time."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from weft.engines.packet.simulation import PS_PER_S, Flows, Options
from weft.engines.packet.wiring import Routes, Wiring
from weft.errors import Infeasible

LONGEST_PATH = 64
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


def paths_of(wiring: Wiring, routes: Routes, flows: Flows) -> Paths:
    """Follow the first of the equal-cost links of every flow; all of them are alike."""
    propagation, slowness = wiring.propagation_s * PS_PER_S, PS_PER_S / wiring.bytes_per_s
    link = routes.uplink[flows.source].astype(np.int64)
    leaf = routes.leaf_of[flows.target]
    links = np.ones(len(link), np.int64)
    latency, slowest = propagation[link], slowness[link]
    added = slowest
    last = routes.last_link[flows.target]
    for _ in range(LONGEST_PATH):
        under_way = wiring.target[link] != flows.target
        if not under_way.any():
            return Paths(
                links=links, latency_ps=latency, ps_per_byte=slowest,
                hops_ps_per_byte=added - slowest,
            )  # fmt: skip
        switch = wiring.target[link[under_way]] - wiring.hosts
        group = routes.groups[switch * routes.leaves + leaf[under_way]]
        here = wiring.source[last[under_way]] - wiring.hosts == switch
        if (~here & (group < 0)).any():
            break
        first = routes.group_links[routes.group_start[np.maximum(group, 0)]]
        link[under_way] = np.where(here, last[under_way], first)
        links += under_way
        latency = latency + np.where(under_way, propagation[link], 0.0)
        added = added + np.where(under_way, slowness[link], 0.0)
        slowest = np.maximum(slowest, slowness[link])
    raise Infeasible(
        "some of the traffic has no path: the topology does not join rails; keep to one rail "
        "(algorithm: hierarchical), or choose topology.kind rail_optimized"
    )


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
