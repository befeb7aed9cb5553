"""What a topology is: hosts and switches in, counts and distances out, in closed form."""

from collections.abc import Callable
from dataclasses import dataclass, field
from math import ceil
from typing import Literal

from weft import units
from weft.catalogue.devices import Switch
from weft.errors import Infeasible
from weft.network.clos import (
    Clos,
    bisection_links,
    clos,
    host_ratio,
    pod_ratio,
    single_switch,
)
from weft.spec.cluster import TopologyChoice

Scope = Literal["leaf", "pod", "far"]
"""How far apart two hosts are: on the same leaves, in one pod, or further."""

_TRAY_GPUS = 4
_LARGEST_HOST_GPUS = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The switch to build with, and what the user asked of the topology."""

    switch: Switch
    choice: TopologyChoice


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """What a topology has to join, and with which switch."""

    hosts: int
    nics_per_host: int
    trays_per_host: int
    """Sets of NICs that attach as one: 18 in an NVL72 rack, 1 in an ordinary server."""
    rails: int
    ports_per_rail: int
    """NICs that one tray has on one rail."""
    nic_bytes_per_s: float
    switch: Switch
    choice: TopologyChoice

    @property
    def trays(self) -> int:
        """All trays."""
        return self.hosts * self.trays_per_host

    @property
    def ports_per_tray(self) -> int:
        """NICs of one tray."""
        return self.rails * self.ports_per_rail

    @property
    def trays_per_pod(self) -> int | None:
        """Trays of the pod that the user asked for."""
        pod = self.choice.hosts_per_pod
        return None if pod is None else pod * self.trays_per_host

    def radix(self, planes: int) -> int:
        """Return the ports of the switch at the rate of one plane, as far as they are used.

        Where the catalogue knows one rate only, a port splits in two of half the rate, as
        every cage of eight or four lanes does.
        """
        rate = self.nic_bytes_per_s / planes
        enough = [r for r in self.switch.radix if r >= rate * (1 - 1e-9)]
        if not enough:
            fastest = units.show_rate(max(self.switch.radix))
            raise Infeasible(
                f"{self.switch.name} has ports of at most {fastest} and a link runs at "
                f"{units.show_rate(rate)}; choose another topology.switch or more planes"
            )
        ports = self.switch.radix[min(enough)]
        splits = len(self.switch.radix) == 1 and min(enough) >= 2 * rate
        there = 2 * ports if splits else ports
        return min(there, self.choice.switch_ports or there)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mesh:
    """Groups (leaf-spine each) whose spines are joined directly, as in a dragonfly+."""

    group: Clos
    """One group, with room for more trays than the last one may hold."""
    groups: int
    trays: int
    links_per_pair: int
    """Links between every two groups."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """A network in numbers: what to buy, how far apart hosts are, how much fits through.

    Switches are those of all planes. A cable carries one link of every plane, so that a NIC
    port is one cable however many planes it is split over.
    """

    kind: str
    switch: str
    site: Site
    planes: int
    rails: int
    tiers: int
    radix: int
    link_bytes_per_s: float
    """Rate of a link, in one plane."""
    leaf: int
    spine: int
    core: int
    host_leaf_cables: int
    leaf_spine_cables: int
    spine_core_cables: int
    """Between spines and cores, or between the groups of a dragonfly+."""
    ports_used: tuple[int, int, int]
    """On the fullest leaf, spine and core."""
    hosts_per_unit: int
    """Hosts on the same leaves."""
    hosts_per_pod: int
    """Hosts that reach one another below the top tier (on one rail, if pods are rails)."""
    hops: tuple[int, int, int]
    oversubscriptions: tuple[float, float, float]
    bisection_links: Callable[[], int] = field(compare=False, repr=False)
    """Links of one plane between two halves of the hosts; counted when it is asked for."""
    joins_rails: bool = True
    """Whether the fabric connects different rails; if not, they meet over NVLink only."""
    wiring: Clos | Mesh

    @property
    def switches(self) -> int:
        """All switches."""
        return self.leaf + self.spine + self.core

    @property
    def cables(self) -> dict[str, int]:
        """Cables by layer."""
        return {
            "host_leaf": self.host_leaf_cables,
            "leaf_spine": self.leaf_spine_cables,
            "spine_core": self.spine_core_cables,
        }

    def switch_hops(self, scope: Scope) -> int:
        """Return how many switches a packet crosses between hosts so far apart."""
        return self.hops[_SCOPES.index(scope)]

    def oversubscription(self, scope: Scope) -> float:
        """Return what hosts can send over what the network takes that far; at least 1."""
        return self.oversubscriptions[_SCOPES.index(scope)]

    def scope(self, hosts: int) -> Scope:
        """Return the scope that holds so many neighbouring hosts."""
        if hosts <= self.hosts_per_unit:
            return "leaf"
        return "pod" if hosts <= self.hosts_per_pod else "far"


_SCOPES: tuple[Scope, ...] = ("leaf", "pod", "far")


@dataclass(frozen=True, slots=True, kw_only=True)
class Topology:
    """A named way to join the hosts of a site."""

    title: str
    layout: Callable[[Site], Layout]


def trays_of(gpus: int, nics: int) -> int:
    """Return the machines with an operating system of their own in one host of a spec.

    A host of more than 16 GPUs is a rack of trays with four GPUs each (NVL72 has 18).

    >>> trays_of(8, 8), trays_of(72, 72)
    (1, 18)
    """
    trays = gpus // _TRAY_GPUS if gpus > _LARGEST_HOST_GPUS else 1
    return 1 if nics % trays else trays


def site_of(hosts: int, gpus: int, nics: int, link_bytes_per_s: float, place: Place) -> Site:
    """Return the site of hosts with so many GPUs and NICs; rails are the NICs of a tray."""
    trays = trays_of(gpus, nics)
    per_tray = nics // trays
    rails = max(d for d in range(1, min(per_tray, gpus // trays) + 1) if per_tray % d == 0)
    return Site(
        hosts=hosts, nics_per_host=nics, trays_per_host=trays, rails=rails,
        ports_per_rail=per_tray // rails, nic_bytes_per_s=link_bytes_per_s,
        switch=place.switch, choice=place.choice,
    )  # fmt: skip


def clos_of(
    site: Site,
    planes: int,
    *,
    ports: int,
    rails: int = 1,
    tiers: int | None = None,
    may_group_by_rail: bool = False,
) -> Clos:
    """Return one plane of a site: a switch where that has the ports, else the Clos.

    A tray has so many ports on the leaf of each of so many rails.
    """
    radix, choice = site.radix(planes), site.choice
    if site.trays * rails * ports <= radix:
        return single_switch(radix=radix, trays=site.trays, ports_per_tray=rails * ports)
    return clos(
        radix=radix, trays=site.trays, leaves_per_unit=rails, ports_per_leaf=ports,
        oversubscription=choice.oversubscription,
        pod_oversubscription=choice.pod_oversubscription, trays_per_pod=site.trays_per_pod,
        tiers=tiers, may_group_by_rail=may_group_by_rail,
    )  # fmt: skip


def clos_layout(
    kind: str, site: Site, network: Clos, *, planes: int = 1, apart: int = 1
) -> Layout:
    """Return the layout of equal Clos networks: one a plane and, if apart, one a rail."""
    far = 2 * network.tiers - 1
    return layout_of(
        kind, site, network, planes=planes, tiers=network.tiers, radix=network.radix,
        switches=(network.leaves * apart, network.spines * apart, network.cores * apart),
        cables=(
            network.host_links * apart,
            network.leaf_links * apart,
            network.spine_links * apart,
        ),
        ports_used=network.ports_used,
        trays=(network.trays_per_unit, network.units_per_group * network.trays_per_unit),
        hops=(1, min(3, far), far),
        oversubscriptions=(1.0, host_ratio(network), pod_ratio(network)),
        bisection_links=lambda: bisection_links(network) * apart, joins_rails=apart == 1,
    )  # fmt: skip


def layout_of(
    kind: str,
    site: Site,
    wiring: Clos | Mesh,
    *,
    planes: int,
    tiers: int,
    radix: int,
    switches: tuple[int, int, int],
    cables: tuple[int, int, int],
    ports_used: tuple[int, int, int],
    trays: tuple[int, int],
    hops: tuple[int, int, int],
    oversubscriptions: tuple[float, float, float],
    bisection_links: Callable[[], int],
    joins_rails: bool = True,
) -> Layout:
    """Return a layout from the counts of one plane; ``trays`` are those of a unit and a pod."""
    unit, pod = (max(1, min(site.trays, t) // site.trays_per_host) for t in trays)
    rate = site.nic_bytes_per_s / planes
    return Layout(
        kind=kind, switch=site.switch.name, site=site, planes=planes, rails=site.rails,
        tiers=tiers, radix=radix, link_bytes_per_s=rate,
        leaf=switches[0] * planes, spine=switches[1] * planes, core=switches[2] * planes,
        host_leaf_cables=cables[0], leaf_spine_cables=cables[1], spine_core_cables=cables[2],
        ports_used=ports_used, hosts_per_unit=unit, hosts_per_pod=pod, hops=hops,
        oversubscriptions=oversubscriptions,
        bisection_links=bisection_links,
        joins_rails=joins_rails, wiring=wiring,
    )  # fmt: skip


def uplinks(layout: Layout) -> tuple[int, int]:
    """Return the most links upwards of a leaf and of a spine, or across between groups."""
    ends = 2 if isinstance(layout.wiring, Mesh) else 1  # both ends are on spines
    return (
        ceil(layout.leaf_spine_cables * layout.planes / max(1, layout.leaf)),
        ceil(ends * layout.spine_core_cables * layout.planes / max(1, layout.spine)),
    )
