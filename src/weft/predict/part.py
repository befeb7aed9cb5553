"""The part of a cluster that is simulated for the whole of it, and what it leaves out."""

from functools import cache
from typing import Final

from weft.errors import WeftError
from weft.network.network import layout
from weft.spec.cluster import Cluster

LEAST_LEAVES, LEAST_LEAF_HOSTS = 3, 8
_SMALL_RADIX: Final = (16, 24, 32, 48, 64, 96, 128)
MODEL_HOSTS: Final = 64
"""Of a network of smaller switches, unless more are asked for."""


def one_rail(cluster: Cluster) -> Cluster:
    """Return a cluster with one GPU and one NIC a host."""
    scale_up = cluster.host.scale_up.with_(gpus=1)
    host = cluster.host.with_(server="", gpus=1, nics=1, scale_up=scale_up)
    return cluster.with_(host=host)


def part_of(cluster: Cluster) -> Cluster:
    """Return one rail of the cluster where rails are alike, else all of it."""
    rail = one_rail(cluster)
    alike = layout(rail).hosts_per_unit == layout(cluster).hosts_per_unit
    return rail if alike else cluster


@cache
def model_of(
    cluster: Cluster, most_nics: int, model_hosts: int = MODEL_HOSTS
) -> tuple[Cluster, str]:
    """Return what is simulated of a cluster, of at most so many NICs, and what it leaves out.

    Where its leaves are too large for that, ``model_hosts`` on smaller switches stand for it.
    """
    part, own = part_of(cluster), layout(cluster)
    nics = max(1, part.host.nics)
    most = max(2, most_nics // nics)
    if cluster.hosts <= most:
        return part.with_(hosts=cluster.hosts), _said(cluster, part, cluster.hosts)
    if nics == 1 and (own.tiers == 1 or most >= LEAST_LEAVES * layout(part).hosts_per_unit):
        return part.with_(hosts=most), _said(cluster, part, most)
    small = _smaller(cluster, model_hosts)
    if small is None:
        return part.with_(hosts=most), _said(cluster, part, most)
    leaf = layout(small).hosts_per_unit
    return small, (
        f"{small.hosts} NICs on leaves of {leaf} hosts ({small.topology.switch_ports} ports a "
        f"switch) stand for the {cluster.hosts * cluster.host.nics} NICs of the cluster"
    )


def _said(cluster: Cluster, part: Cluster, hosts: int) -> str:
    if hosts == cluster.hosts and part.host.nics == cluster.host.nics:
        return "the whole network of the cluster was simulated"
    if hosts == cluster.hosts:
        return f"one of {cluster.host.nics} rails that are alike was simulated, {hosts} NICs"
    rail = "one rail of " if part.host.nics < cluster.host.nics else ""
    return f"{rail}{hosts} hosts stand for the {cluster.hosts} of the cluster"


def _smaller(cluster: Cluster, hosts: int) -> Cluster | None:
    """Return one rail on switches of which so few ports are used that there are leaves."""
    rail = one_rail(cluster)
    found: list[tuple[int, Cluster]] = []
    for ports in _SMALL_RADIX:
        topology = cluster.topology.with_(
            kind="leaf_spine", switch_ports=ports, hosts_per_pod=None
        )
        one = rail.with_(hosts=hosts, topology=topology)
        try:
            plan = layout(one)
        except WeftError:
            continue
        if LEAST_LEAF_HOSTS <= plan.hosts_per_unit <= hosts // LEAST_LEAVES:
            found.append((plan.hosts_per_unit, one))
    return max(found, key=lambda item: item[0])[1] if found else None
