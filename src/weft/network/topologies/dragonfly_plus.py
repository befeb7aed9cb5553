"""Dragonfly+: leaf-spine groups whose spines are joined directly, all groups to all.

A group of radix k has k/2 leaves, k/2 spines and (k/2)^2 links to other groups, so there can
be (k/2)^2 + 1 groups [Shpiner et al. 2017].
"""

from itertools import product

from weft.errors import Infeasible
from weft.network.clos import Clos, group_of, group_sides, host_ratio, single_switch
from weft.network.topologies.rail_optimized import rail_network
from weft.network.topology import Layout, Mesh, Site, Topology, clos_layout, layout_of


def _layout(site: Site) -> Layout:
    planes = site.choice.planes
    radix = site.radix(planes)
    if site.trays * site.ports_per_tray <= radix:
        switch = single_switch(
            radix=radix, trays=site.trays, ports_per_tray=site.ports_per_tray
        )
        return clos_layout("dragonfly_plus", site, switch, planes=planes)
    group = _group(site, radix)
    if group.trays >= site.trays:
        network = rail_network(site, planes, tiers=2)
        return clos_layout("dragonfly_plus", site, network, planes=planes)
    return _mesh_layout(site, _mesh(site, group), planes)


def _group(site: Site, radix: int) -> Clos:
    return group_of(
        radix=radix, leaves_per_unit=site.rails, ports_per_leaf=site.ports_per_rail,
        oversubscription=site.choice.oversubscription,
        pod_oversubscription=site.choice.pod_oversubscription,
        trays_per_pod=site.trays_per_pod,
    )  # fmt: skip


def _mesh(site: Site, group: Clos) -> Mesh:
    groups = -(-site.trays // group.trays)
    links = group.spines * group.spine_up // (groups - 1)
    if links == 0:
        most = group.spines * group.spine_up + 1
        raise Infeasible(
            f"{site.hosts} hosts make {groups} groups, and the spines of a group reach at most "
            f"{most} groups of radix {group.radix}; choose a switch of larger radix"
        )
    return Mesh(group=group, groups=groups, trays=site.trays, links_per_pair=links)


def _mesh_layout(site: Site, mesh: Mesh, planes: int) -> Layout:
    group = mesh.group
    pairs = mesh.groups * (mesh.groups - 1) // 2
    up = mesh.links_per_pair * (mesh.groups - 1)
    far = max(host_ratio(group), group.host_links / up)
    return layout_of(
        "dragonfly_plus", site, mesh, planes=planes, tiers=2, radix=group.radix,
        switches=(group.leaves * mesh.groups, group.spines * mesh.groups, 0),
        cables=(
            site.trays * site.ports_per_tray,
            group.leaf_links * mesh.groups,
            pairs * mesh.links_per_pair,
        ),
        ports_used=group.ports_used,
        trays=(min(group.trays_per_unit, group.trays), group.trays),
        hops=(1, 3, 4), oversubscriptions=(1.0, host_ratio(group), far),
        bisection_links=lambda: _bisection_links(mesh),
    )  # fmt: skip


def _bisection_links(mesh: Mesh) -> int:
    """Return the smallest cut between the first and the last half of the trays.

    Full groups of one half go to one side together: the links between sides are a product of
    the numbers on each side, so a split of them is never smaller.
    """
    half = mesh.trays // 2
    met, kinds = 0, dict[tuple[int, int], int]()
    for index in range(mesh.groups):
        first = index * mesh.group.trays
        stop = min(first + mesh.group.trays, mesh.trays)
        here = max(0, min(half, stop) - first)
        inside, left, right = group_sides(mesh.group, here, stop - first)
        met += inside
        kinds[left, right] = kinds.get((left, right), 0) + 1
    return met + min(_cut(mesh, kinds, sides) for sides in product((0, 1), repeat=len(kinds)))


def _cut(mesh: Mesh, kinds: dict[tuple[int, int], int], sides: tuple[int, ...]) -> int:
    here = sum(n for n, side in zip(kinds.values(), sides, strict=True) if side)
    hosts = sum(n * ports[side] for (ports, n), side in zip(kinds.items(), sides, strict=True))
    return hosts + here * (mesh.groups - here) * mesh.links_per_pair


dragonfly_plus = Topology(title="dragonfly+, groups joined all to all", layout=_layout)
