"""Fat tree: all NICs of a host on one leaf, pods joined by cores [Al-Fares et al. 2008].

One pod needs no cores, and what fits one switch needs no spines.
"""

from weft.network.clos import down_ports
from weft.network.topology import Layout, Site, Topology, clos_layout, clos_of


def _layout(site: Site) -> Layout:
    planes, ports = site.choice.planes, site.ports_per_tray
    radix = site.radix(planes)
    units = down_ports(radix, site.choice.oversubscription) // ports
    pod = site.trays_per_pod or radix // 2 * units
    network = clos_of(site, planes, ports=ports, tiers=2 if site.trays <= pod else 3)
    return clos_layout("fat_tree", site, network, planes=planes)


fat_tree = Topology(title="three-tier fat tree", layout=_layout)
