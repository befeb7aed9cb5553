"""Multi-plane: a NIC port is split over parallel networks of slower links and more ports.

p planes see p times the radix at 1/p of the rate, so two tiers reach p*p times as far.
"""

from weft.errors import Infeasible
from weft.network.topologies.rail_optimized import rail_network
from weft.network.topology import Layout, Site, Topology, clos_layout

_SPLITS = (2, 4, 8)
"""How many ways a NIC port of eight lanes splits."""


def _layout(site: Site) -> Layout:
    planes = site.choice.planes if site.choice.planes > 1 else _fewest(site)
    return clos_layout("multi_plane", site, rail_network(site, planes), planes=planes)


def _fewest(site: Site) -> int:
    """Return the fewest planes, from two, whose two tiers hold the site."""
    for planes in _SPLITS:
        try:
            rail_network(site, planes, tiers=2)
        except Infeasible:
            continue
        return planes
    return _SPLITS[-1]


multi_plane = Topology(title="several planes, rail-optimised", layout=_layout)
