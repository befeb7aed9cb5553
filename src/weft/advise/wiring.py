"""How the switches of a fabric can be joined: kind, switch model, oversubscription."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from weft import catalogue, plugins, units
from weft.advise.attachment import Attachment, is_cloud
from weft.advise.candidate import Candidate
from weft.advise.pins import Pins
from weft.catalogue.devices import Switch
from weft.catalogue.fitting import usual_switch
from weft.errors import Infeasible, WeftError
from weft.network import fabric, topologies
from weft.network.topology import Layout, Place, Topology, site_of
from weft.spec.cluster import Cluster, FabricChoice, TopologyChoice

OVERSUBSCRIPTIONS: Final = (1.0, 2.0, 4.0)
"""Down over up at a leaf that a search tries."""
RELAYING: Final = "rail_only"
"""Rails that are not joined: traffic between them passes the GPUs' own links."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wiring:
    """Switches joined in one way."""

    choice: TopologyChoice
    layout: Layout
    switch: Switch

    @property
    def figures(self) -> tuple[object, ...]:
        """All that the time of a collective depends on: equal figures take equal times."""
        one = self.layout
        return one.hosts_per_unit, one.hosts_per_pod, one.hops, one.oversubscriptions

    def no_worse_than(self, other: "Wiring") -> bool:
        """Tell whether every figure is at least as good as another's."""
        mine, theirs = self.layout, other.layout
        return (
            mine.hosts_per_unit >= theirs.hosts_per_unit
            and mine.hosts_per_pod >= theirs.hosts_per_pod
            and all(a <= b for a, b in zip(mine.hops, theirs.hops, strict=True))
            and all(
                a <= b
                for a, b in zip(mine.oversubscriptions, theirs.oversubscriptions, strict=True)
            )
        )


def wirings(
    candidate: Candidate, cluster: Cluster, attachment: Attachment, pins: Pins
) -> tuple[Wiring, ...]:
    """Return the ways to join the switches that can be built, in order of preference."""
    found: list[Wiring] = []
    refusal = ""
    for switch in switches(cluster, attachment, pins):
        for kind in _kinds(candidate, cluster, pins):
            try:
                found += _joined(cluster, attachment, pins, (switch, kind))
            except Infeasible as error:
                refusal = str(error)
    if not found:
        raise Infeasible(refusal or _no_switch(cluster, attachment))
    return tuple(found)


def _joined(
    cluster: Cluster, attachment: Attachment, pins: Pins, what: tuple[Switch, str]
) -> Iterator[Wiring]:
    """Yield one kind with one switch at each oversubscription that it can have."""
    switch, kind = what
    for choice in _choices(cluster, kind, pins):
        place = choice.with_(switch=switch.name)
        layout = _layout(
            cluster.hosts, cluster.host.gpus, attachment.count, attachment.bytes_per_s, place
        )
        yield Wiring(choice=place, layout=layout, switch=switch)
        if layout.tiers == 1:  # no uplinks, so nothing to oversubscribe
            return


@lru_cache(maxsize=8192)
def _layout(
    hosts: int, gpus: int, nics: int, bytes_per_s: float, choice: TopologyChoice
) -> Layout:
    assert choice.switch is not None, "a wiring names its switch"
    switch = catalogue.find("switches", choice.switch)
    site = site_of(hosts, gpus, nics, bytes_per_s, Place(switch=switch, choice=choice))
    return _topology(choice.kind).layout(site)


@lru_cache
def _topology(kind: str) -> Topology:
    return plugins.load(topologies, kind, Topology)


def _kinds(candidate: Candidate, cluster: Cluster, pins: Pins) -> tuple[str, ...]:
    if is_cloud(cluster) or "topology.kind" in pins:
        return (cluster.topology.kind,)
    if _relays(cluster):
        return candidate.topologies
    return tuple(kind for kind in candidate.topologies if kind != RELAYING)


def _choices(cluster: Cluster, kind: str, pins: Pins) -> Iterator[TopologyChoice]:
    """Yield one kind with each oversubscription to choose from, what is pinned kept."""
    own = cluster.topology
    if is_cloud(cluster):
        yield own
        return
    base = TopologyChoice(kind=kind, cable_m=own.cable_m).with_(**{
        key: getattr(own, key)
        for key in ("hosts_per_pod", "pod_oversubscription", "planes")
        if f"topology.{key}" in pins
    })  # fmt: skip
    fixed = "topology.oversubscription" in pins
    for ratio in (own.oversubscription,) if fixed else OVERSUBSCRIPTIONS:
        yield base.with_(oversubscription=ratio)


def _relays(cluster: Cluster) -> bool:
    """Tell whether every GPU of a host reaches every NIC over links of the GPUs."""
    up = cluster.host.scale_up
    return up.kind != "pcie" and up.gpus >= cluster.host.gpus


def switches(cluster: Cluster, attachment: Attachment, pins: Pins) -> tuple[Switch, ...]:
    """Return the switches to choose from: of those with as many ports the cheapest.

    A pinned model is the only one where it speaks the fabric at the rate.
    """
    able = list(_able(cluster, attachment))
    own = cluster.topology.switch
    if own is not None and "topology.switch" in pins:
        pinned = tuple(switch for switch, _ in able if switch.name == own)
        if pinned:
            return pinned
    if is_cloud(cluster):
        usual = usual_switch(cluster.fabric.kind, attachment.bytes_per_s)
        rented = catalogue.find("switches", usual)
        return () if _lacks_routing(rented, cluster.fabric) else (rented,)
    allowed = cluster.constraints.vendors
    best: dict[int, Switch] = {}
    for switch, ports in able:
        if allowed and switch.vendor not in allowed:
            continue
        if ports not in best or _rank(switch, cluster) < _rank(best[ports], cluster):
            best[ports] = switch
    return tuple(_worth_buying(best, cluster))


def _worth_buying(best: Mapping[int, Switch], cluster: Cluster) -> Iterator[Switch]:
    """Yield switches by ports, without those that cost no less than one with more ports."""
    cheapest: list[Switch] = []
    for ports in sorted(best, reverse=True):
        if not cheapest or _rank(best[ports], cluster) < _rank(cheapest[-1], cluster):
            cheapest.append(best[ports])
    yield from reversed(cheapest)


def _rank(switch: Switch, cluster: Cluster) -> tuple[bool, float, float]:
    """Order switches by price, those that are owned before all others."""
    assert switch.price_usd is not None, f"switch {switch.name} has no price"
    assert switch.power_w is not None, f"switch {switch.name} has no power"
    owned = switch.name in cluster.constraints.owned.switches
    return (not owned, switch.price_usd.value, switch.power_w.value)


def _able(cluster: Cluster, attachment: Attachment) -> Iterator[tuple[Switch, int]]:
    """Yield priced switches that speak the fabric at a rate, with their ports at it."""
    choice = cluster.fabric
    for switch in catalogue.all_of("switches").values():
        assert isinstance(switch, Switch)
        carrier = fabric.find(choice.kind).carried_by
        if carrier not in switch.fabrics or None in {switch.price_usd, switch.power_w}:
            continue
        if choice.in_network_reduction and not switch.in_network_reduction:
            continue
        if _lacks_routing(switch, choice):
            continue
        ports = _ports(switch, attachment.bytes_per_s)
        if ports:
            yield switch, ports


def _lacks_routing(switch: Switch, choice: FabricChoice) -> bool:
    return choice.load_balancing == "adaptive" and not switch.adaptive_routing


def _ports(switch: Switch, bytes_per_s: float) -> int:
    """Return the ports of a switch at a rate; 0 where it is too slow."""
    place = Place(switch=switch, choice=TopologyChoice())
    try:
        return site_of(1, 1, 1, bytes_per_s, place).radix(1)
    except WeftError:
        return 0


def _no_switch(cluster: Cluster, attachment: Attachment) -> str:
    choice = cluster.fabric
    rate = units.show_rate(attachment.bytes_per_s)
    vendors = ", ".join(cluster.constraints.vendors)
    by = f" from {vendors}" if vendors else ""
    mode = f" with {choice.load_balancing} routing" if choice.load_balancing else ""
    return f"no switch{by} in the catalogue supports {choice.kind}{mode} at {rate}"
