"""Leaf and spine: all NICs of a host on one leaf, and two tiers at most."""

from weft.errors import Infeasible
from weft.network.topology import Layout, Site, Topology, clos_layout, clos_of


def _layout(site: Site) -> Layout:
    pod = site.choice.hosts_per_pod
    if pod is not None and pod < site.hosts:
        raise Infeasible(
            f"leaf_spine has no pods, and hosts_per_pod is {pod}; leave it out or choose "
            f"topology fat_tree"
        )
    network = clos_of(site, site.choice.planes, ports=site.ports_per_tray, tiers=2)
    return clos_layout("leaf_spine", site, network, planes=site.choice.planes)


leaf_spine = Topology(title="leaf-spine, hosts on one leaf", layout=_layout)
