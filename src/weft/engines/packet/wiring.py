"""The network as the packet engine wants it: links by number, and equal-cost next links.

Endpoints (NICs) are nodes 0 .. hosts-1, switches follow. Every endpoint has one uplink.
"""

from collections import deque
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wiring:
    """One-way links of a network, all arrays of the length of ``source``."""

    hosts: int
    switches: int
    source: Ints
    target: Ints
    bytes_per_s: Floats
    propagation_s: Floats
    bit_error_ratio: Floats | None = None
    """After forward error correction; none: no errors."""
    nics: int | None = None
    """The first so many endpoints are NICs, others reduce or let time pass; none: all."""
    endless: npt.NDArray[np.bool_] | None = None
    """Links whose queue holds whatever comes (a NIC's own); none: no such links."""
    down: tuple[int, ...] = ()
    """Links that no route takes."""
    queue_ratio: Floats | None = None
    """Share of the queue limit that each link has, as one has that runs below its rate."""

    @property
    def nodes(self) -> int:
        """Endpoints and switches."""
        return self.hosts + self.switches

    @property
    def longest_between_s(self) -> float:
        """Time of the longest cable between switches; 0 where there is none."""
        between = (self.source >= self.hosts) & (self.target >= self.hosts)
        return float(self.propagation_s[between].max(initial=0.0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Routes:
    """Equal-cost next links by (switch, leaf), as the tables of ``State`` want them."""

    leaf_of: npt.NDArray[np.int32]
    uplink: npt.NDArray[np.int32]
    last_link: npt.NDArray[np.int32]
    leaves: int
    groups: npt.NDArray[np.int32]
    group_start: npt.NDArray[np.int32]
    group_links: npt.NDArray[np.int32]


def leaf_spine(
    *, leaves: int, hosts_per_leaf: int, spines: int, bytes_per_s: float, propagation_s: float
) -> Wiring:
    """Wire a two-tier network with one link from every leaf to every spine."""
    hosts = leaves * hosts_per_leaf
    host = np.arange(hosts)
    leaf_of_host = hosts + host // hosts_per_leaf
    leaf = hosts + np.repeat(np.arange(leaves), spines)
    spine = hosts + leaves + np.tile(np.arange(spines), leaves)
    source = np.concatenate([host, leaf_of_host, leaf, spine])
    target = np.concatenate([leaf_of_host, host, spine, leaf])
    count = len(source)
    return Wiring(
        hosts=hosts,
        switches=leaves + spines,
        source=source,
        target=target,
        bytes_per_s=np.full(count, bytes_per_s),
        propagation_s=np.full(count, propagation_s),
    )


def with_ends(
    wiring: Wiring,
    switch: Ints,
    switches: int,
    *,
    bytes_per_s: Floats,
    in_s: Floats,
    out_s: Floats,
) -> Wiring:
    """Add endpoints behind the others, each on a link to a switch and one back.

    ``switch`` numbers switches from 0, and there are ``switches`` of them then; the links
    follow all others, first those into switches, which take ``in_s``.
    """
    count = len(switch)
    ends = wiring.hosts + np.arange(count)
    at = wiring.hosts + count + switch
    source, target = (
        np.where(side >= wiring.hosts, side + count, side)
        for side in (wiring.source, wiring.target)
    )
    errors, endless = wiring.bit_error_ratio, wiring.endless
    return replace(
        wiring,
        nics=wiring.hosts if wiring.nics is None else wiring.nics,
        hosts=wiring.hosts + count,
        switches=switches,
        source=np.concatenate([source, ends, at]),
        target=np.concatenate([target, at, ends]),
        bytes_per_s=np.concatenate([wiring.bytes_per_s, bytes_per_s, bytes_per_s]),
        propagation_s=np.concatenate([wiring.propagation_s, in_s, out_s]),
        bit_error_ratio=None if errors is None else np.append(errors, np.zeros(2 * count)),
        endless=None if endless is None else np.append(endless, np.zeros(2 * count, bool)),
    )


def shortest_routes(wiring: Wiring) -> Routes:
    """Find all shortest next links from every switch to every leaf, by breadth-first search."""
    hosts = wiring.hosts
    uplink, last_link = _edge_links(wiring)
    leaf_switches, leaf_of = np.unique(wiring.target[uplink] - hosts, return_inverse=True)
    into = _links_between_switches(wiring)
    groups = np.full((wiring.switches, len(leaf_switches)), -1, np.int32)
    numbers: dict[tuple[int, ...], int] = {}
    for column, leaf in enumerate(leaf_switches.tolist()):
        for switch, links in _next_links(into, wiring, leaf).items():
            groups[switch, column] = numbers.setdefault(links, len(numbers))
    sizes = [len(links) for links in numbers]
    return Routes(
        leaf_of=leaf_of.astype(np.int32),
        uplink=uplink.astype(np.int32),
        last_link=last_link.astype(np.int32),
        leaves=len(leaf_switches),
        groups=groups.ravel(),
        group_start=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32),
        group_links=np.array([link for links in numbers for link in links] or [0], np.int32),
    )


def _edge_links(wiring: Wiring) -> tuple[Ints, Ints]:
    uplink = np.full(wiring.hosts, -1, np.int64)
    last_link = np.full(wiring.hosts, -1, np.int64)
    number = np.arange(len(wiring.source))
    leaves_host, enters_host = wiring.source < wiring.hosts, wiring.target < wiring.hosts
    uplink[wiring.source[leaves_host]] = number[leaves_host]
    last_link[wiring.target[enters_host]] = number[enters_host]
    assert (uplink >= 0).all(), "an endpoint has no uplink"
    assert (last_link >= 0).all(), "an endpoint cannot be reached"
    return uplink, last_link


def _links_between_switches(wiring: Wiring) -> dict[int, list[tuple[int, int]]]:
    """Return, for every switch, the (link, switch at its sender) that lead into it."""
    into: dict[int, list[tuple[int, int]]] = {}
    down = frozenset(wiring.down)
    pairs = zip(wiring.source.tolist(), wiring.target.tolist(), strict=True)
    for link, (source, target) in enumerate(pairs):
        if source >= wiring.hosts and target >= wiring.hosts and link not in down:
            into.setdefault(target - wiring.hosts, []).append((link, source - wiring.hosts))
    return into


def _next_links(
    into: dict[int, list[tuple[int, int]]], wiring: Wiring, leaf: int
) -> dict[int, tuple[int, ...]]:
    distance = {leaf: 0}
    next_links: dict[int, list[int]] = {}
    queue = deque([leaf])
    while queue:
        near = queue.popleft()
        for link, far in into.get(near, []):
            if far not in distance:
                distance[far] = distance[near] + 1
                queue.append(far)
            if distance[far] == distance[near] + 1:
                next_links.setdefault(far, []).append(link)
    return {switch: tuple(sorted(links)) for switch, links in next_links.items()}
