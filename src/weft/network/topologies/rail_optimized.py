"""Rail-optimised: NIC r of every host of a unit goes to leaf r; spines join the rails.

Two tiers where they hold the cluster, three beyond [DGX SuperPOD reference architectures].
"""

from weft.network.clos import Clos
from weft.network.topology import Layout, Site, Topology, clos_layout, clos_of


def rail_network(site: Site, planes: int, tiers: int | None = None) -> Clos:
    """Return the rail-optimised network of one plane."""
    return clos_of(
        site, planes, ports=site.ports_per_rail, rails=site.rails, tiers=tiers,
        may_group_by_rail=True,
    )  # fmt: skip


def _layout(site: Site) -> Layout:
    planes = site.choice.planes
    return clos_layout("rail_optimized", site, rail_network(site, planes), planes=planes)


rail_optimized = Topology(title="rail-optimised, two or three tiers", layout=_layout)
