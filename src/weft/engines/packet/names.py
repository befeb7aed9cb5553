"""What the links of a network are called: host3.nic2 to leaf5."""

from collections import Counter

import numpy as np

from weft.engines.packet.inside import Inside
from weft.engines.packet.wiring import Wiring
from weft.network.graph import Graph

TIERS = ("leaf", "spine", "core")


def node_names(graph: Graph) -> list[str]:
    """Name every endpoint and switch in the order of the packet engine's numbers."""
    nics, planes = graph.layout.site.nics_per_host, graph.layout.planes
    ends = [
        f"host{port // nics}.nic{port % nics}" + (f".plane{plane}" if planes > 1 else "")
        for port in range(graph.endpoints)
        for plane in range(planes)
    ]
    firsts = graph.first
    switches = [
        f"{tier}{vertex - first}"
        for tier, first, stop in zip(TIERS, firsts[:3], firsts[1:], strict=True)
        for vertex in range(first, stop)
    ]
    return ends + switches


def link_names(graph: Graph, wiring: Wiring) -> list[str]:
    """Name every link; those between the same two switches are numbered."""
    names = node_names(graph)
    ends = zip(wiring.source.tolist(), wiring.target.tolist(), strict=True)
    plain = [f"{names[s]} to {names[t]}" for s, t in ends]
    count, seen = Counter(plain), Counter[str]()
    found = []
    for name in plain:
        seen[name] += 1
        found.append(name if count[name] == 1 else f"{name} ({seen[name]} of {count[name]})")
    return found


def names_inside(graph: Graph, inside: Inside) -> list[str]:
    """Name the links behind all ports: those into the NICs, then those out of them."""
    ports = node_names(graph)[: graph.endpoints * graph.layout.planes]
    lanes = [f" {inside.title} {lane}" for lane in range(inside.lanes)]
    lanes = lanes if inside.lanes > 1 else [f" {inside.title}"]
    ends = [(f"{port}{lane}", port) for port in ports for lane in lanes]
    return [f"{lane} to {port}" for lane, port in ends] + [
        f"{port} to {lane}" for lane, port in ends
    ]


def tiers_of(graph: Graph) -> list[str]:
    """Name the tier of every endpoint and switch: host, leaf, spine or core."""
    first = graph.first
    counts = (first[0] * graph.layout.planes, *np.diff(first).tolist())
    named = zip(("host", *TIERS), counts, strict=True)
    return [tier for tier, count in named for _ in range(count)]
