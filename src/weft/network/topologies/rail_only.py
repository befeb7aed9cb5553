"""Rail-only: each rail is a network of its own, and nothing but NVLink joins the rails.

[Wang et al., arXiv 2307.12169]
"""

from weft.network.topology import Layout, Site, Topology, clos_layout, clos_of


def _layout(site: Site) -> Layout:
    planes = site.choice.planes
    network = clos_of(site, planes, ports=site.ports_per_rail)
    return clos_layout("rail_only", site, network, planes=planes, apart=site.rails)


rail_only = Topology(title="rail-only, rails not joined", layout=_layout)
