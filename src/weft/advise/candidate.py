"""What a candidate is: another network for the same hosts."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from weft.spec.cluster import Cluster


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A network that the cluster could have, and what it asks of its owner.

    ``apply`` changes the fabric (and what follows from it) and keeps hosts, GPUs, the rate
    of each NIC and the topology, so that rows of a comparison differ in the network alone.
    """

    title: str
    family: str
    """infiniband, ethernet, tcp or cloud: rivals of different families interest most."""
    apply: Callable[[Cluster], Cluster]
    settings: int
    """Settings that must agree on every switch and NIC before it is lossless or balanced."""
    knowledge: str
    """What its operators must know."""


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
    return cluster.with_(fabric=fabric, topology=cluster.topology.with_(switch=switch))
