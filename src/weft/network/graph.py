"""The real network, port by port: every link one way, as flat arrays.

Vertices are numbered by tier (NIC ports, then leaves, spines, cores), and links are sorted by
source and target, so "the links from here to there" is a range that two binary searches find,
and the uplinks of a switch are the tail of its range.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from weft.network.clos import Clos
from weft.network.topology import Layout, Mesh

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

HOST_LEAF, LEAF_SPINE, SPINE_CORE = range(3)
"""Layers of links; the global links of a dragonfly+ are of layer SPINE_CORE."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Graph:
    """All vertices and links of a network. A link is one direction of a cable of one plane."""

    layout: Layout
    endpoints: int
    """NIC ports: vertex h * nics_per_host + n is NIC n of host h."""
    first: tuple[int, int, int, int]
    """First leaf, spine and core, and the number of vertices."""
    network: Ints
    """By vertex: network it belongs to (one a plane, and one a rail if apart); NICs -1."""
    group: Ints
    """By vertex: pod, rail group or dragonfly group of leaves and spines; others -1."""
    leaf_of: Ints
    """By endpoint and plane: its leaf."""
    group_spines: Ints
    """By group: its first spine and the one after its last."""
    start: Ints
    """By vertex: its first link; start[v + 1] ends them."""
    source: Ints
    target: Ints
    rate_bytes_per_s: Floats
    length_m: Floats
    layer: Ints
    plane: Ints
    rail: Ints
    """By link: rail of the leaf where that is one; -1 elsewhere."""
    reverse: Ints
    """By link: the same cable the other way."""
    key: Ints
    """By link: source * vertices + target, sorted."""

    @property
    def vertices(self) -> int:
        """NIC ports and switches."""
        return self.first[3]

    @property
    def links(self) -> int:
        """Links, each one direction."""
        return len(self.source)

    def tier(self, vertex: Ints) -> Ints:
        """Return 0 for leaves, 1 for spines, 2 for cores, -1 for NIC ports."""
        return np.searchsorted(np.array(self.first[:3]), vertex, side="right") - 1

    def between(self, source: Ints, first: Ints, stop: Ints) -> tuple[Ints, Ints]:
        """Return the range of links from each source to targets in [first, stop)."""
        base = source * self.vertices
        return np.searchsorted(self.key, base + first), np.searchsorted(self.key, base + stop)


@dataclass(frozen=True, slots=True)
class _Cables:
    """Some cables before they are sorted: lower and upper vertex, rail, by cable."""

    lower: Ints
    upper: Ints
    rail: Ints
    plane: int
    layer: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Block:
    """Where the switches of one network start in the numbering, and which rail it serves."""

    number: int
    plane: int
    only_rail: int
    leaf: int
    spine: int
    core: int
    group: int


def build(layout: Layout) -> Graph:
    """Build the graph of a layout."""
    blocks = list(_blocks(layout))
    cables = [c for block in blocks for c in _cables(layout, block)]
    first = _first(layout)
    network, group, spines = _memberships(layout, blocks, first)
    arrays = _sorted(layout, cables, first[3])
    return Graph(
        layout=layout, endpoints=first[0], first=first, network=network, group=group,
        leaf_of=_leaf_of(layout, blocks), group_spines=spines, **arrays,
    )  # fmt: skip


def _first(layout: Layout) -> tuple[int, int, int, int]:
    endpoints = layout.site.trays * layout.site.ports_per_tray
    spine = endpoints + layout.leaf
    return endpoints, spine, spine + layout.spine, spine + layout.spine + layout.core


def _blocks(layout: Layout) -> Iterator[_Block]:
    first, apart = _first(layout), 1 if layout.joins_rails else layout.site.rails
    networks = layout.planes * apart
    sizes = layout.leaf // networks, layout.spine // networks, layout.core // networks
    for number in range(networks):
        leaf, spine, core = (first[i] + number * sizes[i] for i in range(3))
        yield _Block(
            number=number, plane=number // apart, leaf=leaf, spine=spine, core=core,
            only_rail=number % apart if apart > 1 else -1, group=number * layout.wiring.groups,
        )  # fmt: skip


def _tree(wiring: Clos | Mesh) -> Clos:
    return wiring.group if isinstance(wiring, Mesh) else wiring


def _endpoint_leaves(layout: Layout, block: _Block) -> tuple[Ints, Ints, Ints]:
    """Return the endpoints of a network, their leaves (from 0) and their rails."""
    site, tree = layout.site, _tree(layout.wiring)
    endpoint = np.arange(site.trays * site.ports_per_tray)
    tray, slot = np.divmod(endpoint, site.ports_per_tray)
    rail = slot // site.ports_per_rail
    if block.only_rail >= 0:
        mine = rail == block.only_rail
        endpoint, tray, rail = endpoint[mine], tray[mine], rail[mine]
    column = rail if tree.leaves_per_unit > 1 else np.zeros_like(rail)
    if isinstance(layout.wiring, Mesh):
        group, inside = np.divmod(tray, tree.trays)
        unit = group * tree.units + inside // tree.trays_per_unit
    else:
        unit = tray // tree.trays_per_unit
    return endpoint, unit * tree.leaves_per_unit + column, rail


def _leaf_of(layout: Layout, blocks: list[_Block]) -> Ints:
    endpoints = layout.site.trays * layout.site.ports_per_tray
    leaf_of = np.full((endpoints, layout.planes), -1, dtype=np.int64)
    for block in blocks:
        endpoint, leaf, _ = _endpoint_leaves(layout, block)
        leaf_of[endpoint, block.plane] = block.leaf + leaf
    return leaf_of


def _leaf_groups(layout: Layout) -> Ints:
    """Return the group of every leaf of one network, from 0."""
    tree = _tree(layout.wiring)
    copies = layout.wiring.groups if isinstance(layout.wiring, Mesh) else 1
    leaf = np.arange(tree.leaves * copies)
    if isinstance(layout.wiring, Mesh):
        return leaf // tree.leaves
    unit, column = np.divmod(leaf, tree.leaves_per_unit)
    group = unit // tree.units_per_group
    return group + column * tree.groups_per_rail if tree.by_rail else group


def _group_spines(wiring: Clos | Mesh) -> Ints:
    """Return the first spine of every group of one network, and the end."""
    return np.arange(wiring.groups + 1) * _tree(wiring).spines_per_group


def _memberships(
    layout: Layout, blocks: list[_Block], first: tuple[int, int, int, int]
) -> tuple[Ints, Ints, Ints]:
    """Return network and group by vertex, and the spines by group."""
    network = np.full(first[3], -1, dtype=np.int64)
    group = np.full(first[3], -1, dtype=np.int64)
    leaf_group, spines = _leaf_groups(layout), _group_spines(layout.wiring)
    ranges = []
    for block in blocks:
        leaf = slice(block.leaf, block.leaf + len(leaf_group))
        spine = slice(block.spine, block.spine + spines[-1])
        network[leaf] = network[spine] = block.number
        network[block.core : block.core + layout.core // len(blocks)] = block.number
        group[leaf] = block.group + leaf_group
        group[spine] = block.group + np.repeat(np.arange(len(spines) - 1), np.diff(spines))
        ranges.append(block.spine + np.stack([spines[:-1], spines[1:]], axis=1))
    return network, group, np.concatenate(ranges)


def _cables(layout: Layout, block: _Block) -> Iterator[_Cables]:
    endpoint, leaf, rail = _endpoint_leaves(layout, block)
    yield _Cables(endpoint, block.leaf + leaf, rail, block.plane, HOST_LEAF)
    if layout.spine:
        yield _leaf_cables(layout, block)
    if isinstance(layout.wiring, Mesh):
        yield from _global_cables(layout.wiring, block)
    elif layout.core:
        yield _core_cables(layout.wiring, block)


def _leaf_cables(layout: Layout, block: _Block) -> _Cables:
    """Spread the uplinks of every leaf evenly over the spines of its group."""
    tree, groups = _tree(layout.wiring), _leaf_groups(layout)
    spines = _group_spines(layout.wiring)
    leaf = np.repeat(np.arange(len(groups)), tree.leaf_up)
    uplink = np.tile(np.arange(tree.leaf_up), len(groups))
    group = groups[leaf]
    spine = spines[group] + uplink % (spines[group + 1] - spines[group])
    column = leaf % tree.leaves_per_unit
    rail = column if tree.leaves_per_unit > 1 else np.full_like(leaf, block.only_rail)
    return _Cables(block.leaf + leaf, block.spine + spine, rail, block.plane, LEAF_SPINE)


def _core_cables(tree: Clos, block: _Block) -> _Cables:
    """Give spine j of every group to core group j mod q, and take its cores in turn."""
    spine = np.repeat(np.arange(tree.spines), tree.spine_up)
    uplink = np.tile(np.arange(tree.spine_up), tree.spines)
    group, inside = np.divmod(spine, tree.spines_per_group)
    turn, core_group = np.divmod(inside, tree.core_groups)
    before = group * (tree.spines_per_group // tree.core_groups) + turn
    chosen = (before * tree.spine_up + uplink) % tree.cores_per_group
    core = core_group * tree.cores_per_group + chosen
    rail = np.full_like(core, block.only_rail)
    return _Cables(block.spine + spine, block.core + core, rail, block.plane, SPINE_CORE)


def gateway(mesh: Mesh, here: Ints, there: Ints, which: Ints) -> Ints:
    """Return the spine (from 0 in its group) that has link ``which`` to another group."""
    others_before = there - (there > here)
    return (others_before * mesh.links_per_pair + which) % mesh.group.spines


def _global_cables(mesh: Mesh, block: _Block) -> Iterator[_Cables]:
    here, there = np.triu_indices(mesh.groups, k=1)
    here, there = (np.repeat(side, mesh.links_per_pair) for side in (here, there))
    pairs = mesh.groups * (mesh.groups - 1) // 2
    which = np.tile(np.arange(mesh.links_per_pair), pairs)
    ends = [
        block.spine + a * mesh.group.spines + gateway(mesh, a, b, which)
        for a, b in ((here, there), (there, here))
    ]
    yield _Cables(ends[0], ends[1], np.full_like(which, -1), block.plane, SPINE_CORE)


def _sorted(layout: Layout, cables: list[_Cables], vertices: int) -> dict[str, Any]:
    """Return both directions of all cables, sorted by source and target."""
    lower, upper, rail = (
        np.concatenate([getattr(c, name) for c in cables])
        for name in ("lower", "upper", "rail")
    )
    plane = np.concatenate([np.full(len(c.lower), c.plane) for c in cables])
    layer = np.concatenate([np.full(len(c.lower), c.layer) for c in cables])
    source, target = np.concatenate([lower, upper]), np.concatenate([upper, lower])
    order = np.argsort(source * vertices + target, kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    source = source[order]
    return {
        "start": np.searchsorted(source, np.arange(vertices + 1)),
        "source": source,
        "target": target[order],
        "key": source * vertices + target[order],
        "rate_bytes_per_s": np.full(len(order), layout.link_bytes_per_s),
        "length_m": np.full(len(order), layout.site.choice.cable_m),
        "layer": np.tile(layer, 2)[order],
        "plane": np.tile(plane, 2)[order],
        "rail": np.tile(rail, 2)[order],
        "reverse": place[(order + len(lower)) % len(order)],
    }
