"""Fat tree: all NICs of a host on one leaf, pods joined by cores [Al-Fares et al. 2008].

One pod needs no cores, and what fits one switch needs no spines.
"""

from weft.network.clos import Clos, clos, down_ports, single_switch
from weft.network.topology import Layout, Site, Topology, clos_layout


def _layout(site: Site) -> Layout:
    return clos_layout("fat_tree", site, _network(site), planes=site.choice.planes)


def _network(site: Site) -> Clos:
    radix, choice, ports = site.radix(site.choice.planes), site.choice, site.ports_per_tray
    if site.trays * ports <= radix:
        return single_switch(radix=radix, trays=site.trays, ports_per_tray=ports)
    pod = site.trays_per_pod or radix // 2 * (
        down_ports(radix, choice.oversubscription) // ports
    )
    return clos(
        radix=radix, trays=site.trays, leaves_per_unit=1, ports_per_leaf=ports,
        oversubscription=choice.oversubscription,
        pod_oversubscription=choice.pod_oversubscription,
        trays_per_pod=site.trays_per_pod, tiers=2 if site.trays <= pod else 3,
    )  # fmt: skip


fat_tree = Topology(title="three-tier fat tree", layout=_layout)
