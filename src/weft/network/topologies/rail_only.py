"""Rail-only: each rail is a network of its own, and nothing but NVLink joins the rails.

[Wang et al., arXiv 2307.12169]
"""

from weft.network.clos import Clos, clos, single_switch
from weft.network.topology import Layout, Site, Topology, clos_layout


def _layout(site: Site) -> Layout:
    planes = site.choice.planes
    network = _one_rail(site, planes)
    return clos_layout("rail_only", site, network, planes=planes, apart=site.rails)


def _one_rail(site: Site, planes: int) -> Clos:
    radix, choice = site.radix(planes), site.choice
    if site.trays * site.ports_per_rail <= radix:
        return single_switch(radix=radix, trays=site.trays, ports_per_tray=site.ports_per_rail)
    return clos(
        radix=radix, trays=site.trays, leaves_per_unit=1, ports_per_leaf=site.ports_per_rail,
        oversubscription=choice.oversubscription,
        pod_oversubscription=choice.pod_oversubscription, trays_per_pod=site.trays_per_pod,
    )  # fmt: skip


rail_only = Topology(title="rail-only, rails not joined", layout=_layout)
