"""Changes to a cluster that ask "what if": bandwidth, rate of the NICs."""

from math import ceil

from weft.network.network import layout, resolve
from weft.sources import Sourced
from weft.spec.cluster import Cluster

SAME_RATE = 1e-9


def with_bandwidth(cluster: Cluster, ratio: float) -> Cluster:
    """Multiply the rate of every NIC; how the switches are joined stays as it is.

    Slower NICs sit on the same links. Faster ones are split over as many planes as keep
    each link within the rate that its switch has ports for.
    """
    host, topology = cluster.host, cluster.topology
    pcie = host.pcie_bytes_per_s
    link = cluster.fabric.link_bytes_per_s or host.nic_bytes_per_s
    faster = max(1.0, ratio)
    return cluster.with_(
        host=host.with_(
            nic=host.nic if ratio <= 1 else "",  # faster than any may be
            nic_bytes_per_s=host.nic_bytes_per_s * ratio,
            pcie_bytes_per_s=None if pcie is None else pcie * faster,
        ),
        fabric=cluster.fabric.with_(link_bytes_per_s=link * faster),
        topology=topology.with_(planes=topology.planes * ceil(faster - SAME_RATE)),
    )


def fabric_factor(cluster: Cluster) -> Sourced:
    """Return the share of its links that the fabric fills on this cluster, with its range.

    Load balancing matters to what leaves a leaf; tuning to any traffic between more than two
    hosts. Both shares are those that the closed forms take.
    """
    choice, hosts = cluster.fabric, cluster.hosts
    found = resolve(cluster).fabric
    balanced, tuned = found.balanced(choice.load_balancing), found.tuned(choice.tuning)
    far = max(0.0, 1 - layout(cluster).hosts_per_unit / hosts)
    crowd = 1.0 if choice.tuning == "misconfigured" else 1 - 2 / max(2, hosts)

    def share(balance: float, tuning: float) -> float:
        return (1 - (1 - balance) * far) * (1 - (1 - tuning) * crowd)

    return Sourced(
        share(balanced.value, tuned.value),
        share(balanced.low, tuned.low),
        share(balanced.high, tuned.high),
        (*balanced.sources, *tuned.sources),
        min(balanced.confidence, tuned.confidence),
    )
