"""Leaf and spine: all NICs of a host on one leaf, and two tiers at most."""

from weft.errors import Infeasible
from weft.network.clos import Clos, clos, single_switch
from weft.network.topology import Layout, Site, Topology, clos_layout


def _layout(site: Site) -> Layout:
    pod = site.choice.hosts_per_pod
    if pod is not None and pod < site.hosts:
        raise Infeasible(
            f"leaf_spine has no pods, and hosts_per_pod is {pod}; leave it out or choose "
            f"topology fat_tree"
        )
    return clos_layout("leaf_spine", site, _network(site), planes=site.choice.planes)


def _network(site: Site) -> Clos:
    radix = site.radix(site.choice.planes)
    if site.trays * site.ports_per_tray <= radix:
        return single_switch(radix=radix, trays=site.trays, ports_per_tray=site.ports_per_tray)
    return clos(
        radix=radix, trays=site.trays, leaves_per_unit=1, ports_per_leaf=site.ports_per_tray,
        oversubscription=site.choice.oversubscription, tiers=2,
    )  # fmt: skip


leaf_spine = Topology(title="leaf-spine, hosts on one leaf", layout=_layout)
