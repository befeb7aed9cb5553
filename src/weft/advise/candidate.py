"""What a candidate is: another network for the same hosts."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final, Literal

from weft.errors import UnknownName
from weft.network import fabric
from weft.records import records
from weft.spec.cluster import Cluster, FabricChoice
from weft.spec.constraints import Skill
from weft.spec.problems import nearest

TOPOLOGIES: Final = ("rail_optimized", "leaf_spine", "fat_tree", "rail_only")
"""Kinds that a search tries, the most usual first."""
GIVEN, NONE = "as_given", "none"
SKILLS: Final[tuple[Skill, ...]] = ("none", "some", "expert")


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A network that the cluster could have, and what it asks of its owner."""

    name: str
    title: str
    short: str
    """Its title inside a sentence."""
    family: str
    """infiniband, ethernet, tcp or cloud: rivals of different families interest most."""
    fabric: str
    settings: int
    """Settings that must agree on every switch and NIC before it is lossless or balanced."""
    knowledge: str
    """What its operators must know."""
    balancing: tuple[str, ...] = ()
    """Modes of load balancing to choose from; empty: the fabric's default."""
    tuning: Literal["tuned", "default", "misconfigured"] = "tuned"
    in_network_reduction: bool = False
    topologies: tuple[str, ...] = TOPOLOGIES
    storage_fabric: str = ""
    """Storage and management on a fabric of their own."""
    needs_skill: Skill = "none"
    """Skill that its operators need before it does what is predicted."""
    resembles: str | None = None
    """The measured candidate that it is built on, where no collective was published on its
    own fabric: it may turn out to be no faster than that one."""
    choice: bool = True
    """False: it is shown for what it costs to be untuned and not recommended."""

    def choices(self, cluster: Cluster) -> tuple[FabricChoice, ...]:
        """Return the settings to choose from; the share that other traffic takes stays."""
        copies = fabric.find(self.fabric).socket_bytes_per_s is not None
        one = FabricChoice(
            kind=self.fabric,
            tuning=self.tuning,
            in_network_reduction=self.in_network_reduction,
            sockets=SOCKETS if copies else None,
            socket_threads=SOCKET_THREADS if copies else None,
        ).with_(load_ratio=cluster.fabric.load_ratio)
        if not self.balancing:
            return (one,)
        return tuple(one.with_(load_balancing=mode) for mode in self.balancing)

    def with_storage(self, cluster: Cluster) -> Cluster:
        """Return a cluster with the storage network of this candidate, if it has one."""
        if not self.storage_fabric:
            return cluster
        return cluster.with_(storage_fabric=FabricChoice(kind=self.storage_fabric))


SOCKET_THREADS, SOCKETS = 16, 64
"""The most that NCCL allows: NCCL_SOCKET_NTHREADS, and its product with NSOCKS_PERTHREAD."""


@cache
def candidates() -> Mapping[str, Candidate]:
    """Return all candidates by name."""
    return records("weft.advise", "candidates", Candidate)


def find(name: str) -> Candidate:
    """Return a candidate by name.

    >>> find("tcp").title
    'TCP over Ethernet'
    """
    known = candidates()
    if name not in known:
        raise UnknownName(f"no network is called {name!r}; {nearest(name, known)}")
    return known[name]
