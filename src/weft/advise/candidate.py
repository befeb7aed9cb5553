"""What a candidate is: another network for the same hosts."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from math import inf
from typing import Literal

from weft import catalogue, units
from weft.catalogue.devices import Nic
from weft.errors import Infeasible
from weft.network.topology import layout
from weft.spec.cluster import Cluster

SAME_RATE = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A network that the cluster could have, and what it asks of its owner.

    ``apply`` changes the fabric (and what follows from it) and keeps hosts, GPUs, the rate
    of each NIC and the topology, so that rows of a comparison differ in the network alone.
    """

    title: str
    short: str
    """Its title inside a sentence."""
    family: str
    """infiniband, ethernet, tcp or cloud: rivals of different families interest most."""
    apply: Callable[[Cluster], Cluster]
    settings: int
    """Settings that must agree on every switch and NIC before it is lossless or balanced."""
    knowledge: str
    """What its operators must know."""
    resembles: str | None = None
    """The measured candidate that it is built on, where no collective was published on its
    own fabric: it may turn out to be no faster than that one."""
    choice: bool = True
    """Whether anybody would choose it; if not, it is shown as a risk and never advised."""


def on_fabric(
    cluster: Cluster,
    kind: str,
    *,
    load_balancing: str | None = None,
    tuning: Literal["tuned", "default", "misconfigured"] = "tuned",
    in_network_reduction: bool = False,
) -> Cluster:
    """Give a cluster another fabric with default settings; its switch follows the fabric.

    The share of the links that other traffic takes, and the rate of the links, stay.
    """
    own = cluster.fabric
    fabric = type(own)(
        kind=kind,
        load_balancing=load_balancing,
        tuning=tuning,
        in_network_reduction=in_network_reduction,
    ).with_(link_bytes_per_s=own.link_bytes_per_s, load_ratio=own.load_ratio)
    switch = cluster.topology.switch if own.kind == kind else None
    changed = cluster.with_(fabric=fabric, topology=cluster.topology.with_(switch=switch))
    return _with_nic(changed, kind)


def _with_nic(cluster: Cluster, kind: str) -> Cluster:
    """Keep the NIC if it speaks the fabric; else take the nearest that does, at its rate."""
    if not cluster.host.nics or kind in catalogue.find("nics", cluster.host.nic).fabrics:
        return cluster
    rate = cluster.host.nic_bytes_per_s
    nic = _nic_for(kind, rate)
    if nic is None:
        raise Infeasible(
            f"no NIC of the catalogue speaks {kind} at {units.show_rate(rate)}; name one in "
            "host.nic and its price in prices.nic_usd"
        )
    return cluster.with_(
        host=cluster.host.with_(nic=nic), prices=cluster.prices.with_(nic_usd=None)
    )


@cache
def _nic_for(kind: str, rate_bytes_per_s: float) -> str | None:
    """Return the slowest NIC that is fast enough, of equals the cheapest."""
    found = [catalogue.find("nics", name) for name in catalogue.names("nics")]
    able = [
        nic
        for nic in found
        if kind in nic.fabrics and nic.bytes_per_s.value >= rate_bytes_per_s * (1 - SAME_RATE)
    ]
    if not able:
        return None
    return min(able, key=lambda nic: (nic.bytes_per_s.value, _price(nic))).name


def _price(nic: Nic) -> float:
    return inf if nic.price_usd is None else nic.price_usd.value


def fitted(cluster: Cluster) -> Cluster:
    """Let pods be as large as the switch allows where those asked for need another switch.

    A pod that suits one fabric's switch can be too large for the radix of another's.
    """
    try:
        layout(cluster)
    except Infeasible:
        return cluster.with_(topology=cluster.topology.with_(hosts_per_pod=None))
    return cluster
