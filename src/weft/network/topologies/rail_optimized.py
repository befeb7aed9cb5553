"""Rail-optimised: NIC r of every host of a unit goes to leaf r; spines join the rails.

Two tiers where they hold the cluster, three beyond [DGX SuperPOD reference architectures].
"""

from weft.network.clos import Clos, clos, single_switch
from weft.network.topology import Layout, Site, Topology, clos_layout


def rail_network(site: Site, planes: int, tiers: int | None = None) -> Clos:
    """Return the rail-optimised network of one plane."""
    radix, choice = site.radix(planes), site.choice
    if site.trays * site.ports_per_tray <= radix:
        return single_switch(radix=radix, trays=site.trays, ports_per_tray=site.ports_per_tray)
    return clos(
        radix=radix, trays=site.trays, leaves_per_unit=site.rails,
        ports_per_leaf=site.ports_per_rail, oversubscription=choice.oversubscription,
        pod_oversubscription=choice.pod_oversubscription, trays_per_pod=site.trays_per_pod,
        tiers=tiers, may_group_by_rail=True,
    )  # fmt: skip


def _layout(site: Site) -> Layout:
    planes = site.choice.planes
    return clos_layout("rail_optimized", site, rail_network(site, planes), planes=planes)


rail_optimized = Topology(title="rail-optimised, two or three tiers", layout=_layout)
