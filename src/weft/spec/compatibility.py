"""Whether the parts of a network fit: every one speaks the fabric, at the rate asked for.

All that is compared are facts of the catalogue, so that a file is refused where it is wrong,
by line and column, before anything is computed. ``weft.network.network`` builds on it.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from weft import units
from weft.catalogue.devices import FabricFacts, Nic, Switch
from weft.catalogue.fitting import (
    SLACK,
    has_ports,
    medium,
    nics_for,
    provider_of,
    switches_for,
    usual_switch,
)
from weft.catalogue.load import find
from weft.errors import Infeasible
from weft.spec.cluster import FabricChoice, Host, TopologyChoice
from weft.spec.problems import Problem

_MOST_NAMES: Final = 6


def link_rate(host: Host, fabric: FabricChoice) -> float:
    """Return the rate of a link in bytes/s, all its planes together."""
    return fabric.link_bytes_per_s or host.nic_bytes_per_s


def nic_of(host: Host, fabric: FabricChoice) -> Nic | None:
    """Return the NIC; where the host names none, the usual one of the fabric at its rate.

    None where there is no such NIC: an unnamed NIC may be one that nobody makes yet.
    """
    if not host.nics:
        return None
    if host.nic:
        return find("nics", host.nic)
    return next(iter(nics_for(fabric.kind, host.nic_bytes_per_s)), None)


def switch_of(host: Host, fabric: FabricChoice, topology: TopologyChoice) -> Switch:
    """Return the switch; where the topology names none, the fabric's usual one at its rate."""
    rate = link_rate(host, fabric)
    name = topology.switch or usual_switch(fabric.kind, rate, fabric.load_balancing)
    return find("switches", name)


def network_problems(
    hosts: int, host: Host, fabric: FabricChoice, topology: TopologyChoice
) -> Iterator[Problem]:
    """Yield what does not fit together; paths are those of the cluster."""
    facts = find("fabrics", fabric.kind)
    rented = list(_provider_problems(host, fabric, topology))
    yield from rented
    yield from _setting_problems(facts, fabric)
    yield from _topology_problems(facts, fabric, topology)
    if host.nics and not rented:
        yield from _nic_problems(host, fabric)
    if topology.switch or (hosts > 1 and host.nics):
        switch = switch_of(host, fabric, topology)
        found = list(_switch_problems(switch, host, fabric, topology))
        yield from found
        if not found:
            yield from _function_problems(facts, switch, fabric)
    if hosts > 1 and host.nics and host.nic:
        yield from _media_problems(host, fabric, topology)


def _provider_problems(
    host: Host, fabric: FabricChoice, topology: TopologyChoice
) -> Iterator[Problem]:
    provider = provider_of(host.server)
    if provider is None:
        return
    net, server = provider.servers[host.server], find("servers", host.server)
    rents = f"{provider.title} rents {host.server} with"
    if fabric.kind not in net.fabrics:
        message = f"is not for rent: {rents} {_and(net.fabrics)}"
        yield Problem(path=("fabric", "kind"), message=message, value=fabric.kind)
    if host.nics and host.nic not in {"", server.nic}:
        message = f"is not for rent: {rents} {server.nics} x {server.nic}"
        yield Problem(path=("host", "nic"), message=message, value=host.nic)
    if host.nics > server.nics:
        message = f"is more than {provider.title} rents with {host.server} ({server.nics})"
        yield Problem(path=("host", "nics"), message=message, value=host.nics)
    if topology.kind not in net.topologies:
        message = f"is not for rent: {rents} a network of kind {_and(net.topologies)}"
        yield Problem(path=("topology", "kind"), message=message, value=topology.kind)


def _setting_problems(facts: FabricFacts, fabric: FabricChoice) -> Iterator[Problem]:
    mode, mtu = fabric.load_balancing, fabric.mtu_bytes
    if mode not in {None, *facts.load_balancing}:
        message = f"is no load balancing of {facts.name}; it has {_and(facts.load_balancing)}"
        yield Problem(path=("fabric", "load_balancing"), message=message, value=mode)
    if mtu is not None and not _takes_mtu(facts, mtu):
        joined = " to " if facts.any_mtu else ", "
        sizes = joined.join(f"{size}" for size in facts.mtus_bytes)
        message = f"is no MTU of {facts.name}; it has {sizes} bytes"
        yield Problem(path=("fabric", "mtu_bytes"), message=message, value=mtu)
    if fabric.in_network_reduction and not facts.in_network_reduction:
        message = f"is not possible: no switch of {facts.name} reduces; leave it out"
        yield Problem(path=("fabric", "in_network_reduction"), message=message, value=True)


def _takes_mtu(facts: FabricFacts, mtu_bytes: float) -> bool:
    if facts.any_mtu:
        return min(facts.mtus_bytes) <= mtu_bytes <= max(facts.mtus_bytes)
    return mtu_bytes in facts.mtus_bytes


def _topology_problems(
    facts: FabricFacts, fabric: FabricChoice, topology: TopologyChoice
) -> Iterator[Problem]:
    if facts.topologies and topology.kind not in facts.topologies:
        message = f"is no topology of {facts.name}; it has {_and(facts.topologies)}"
        yield Problem(path=("topology", "kind"), message=message, value=topology.kind)
    mode = fabric.load_balancing or ""
    needed = facts.balancing_topologies.get(mode, (topology.kind,))
    if topology.kind not in needed:
        message = f"needs topology.kind {_and(needed)}; the cluster has {topology.kind}"
        yield Problem(path=("fabric", "load_balancing"), message=message, value=mode)


def _nic_problems(host: Host, fabric: FabricChoice) -> Iterator[Problem]:
    nic, rate = nic_of(host, fabric), host.nic_bytes_per_s
    fits = f"NICs that speak {fabric.kind} at {units.show_rate(rate)}: " + _names(
        nics_for(fabric.kind, rate)
    )
    if nic is None:
        return
    if fabric.kind not in nic.fabrics:
        message = f"speaks {_and(nic.fabrics)}; fabric.kind is {fabric.kind}. {fits}"
        yield Problem(path=("host", "nic"), message=message, value=nic.name)
        return
    fastest = nic.bytes_per_s.value
    for path, asked in (
        (("host", "nic_bytes_per_s"), rate),
        (("fabric", "link_bytes_per_s"), link_rate(host, fabric)),
    ):
        if asked * SLACK > fastest:
            message = (
                f"{units.show_rate(asked)} is more than {nic.name} has "
                f"({units.show_rate(fastest)}). {fits}"
            )
            yield Problem(path=path, message=message, has_value=False)
            return


def _switch_problems(
    switch: Switch, host: Host, fabric: FabricChoice, topology: TopologyChoice
) -> Iterator[Problem]:
    rate = link_rate(host, fabric) / topology.planes
    carrier = find("fabrics", fabric.kind).carried_by
    fits = f"Switches that speak {carrier} at {units.show_rate(rate)}: " + _names(
        switches_for(fabric.kind, rate)
    )
    if carrier not in switch.fabrics:
        asked = fabric.kind if carrier == fabric.kind else f"{fabric.kind} (over {carrier})"
        message = (
            f"is {_family(switch)} switch ({', '.join(switch.fabrics)}); fabric.kind is "
            f"{asked}. {fits}"
        )
        yield Problem(path=("topology", "switch"), message=message, value=switch.name)
    elif not has_ports(switch, rate):
        fastest = units.show_rate(max(switch.radix))
        message = (
            f"has ports of at most {fastest}; a link of fabric.kind {fabric.kind} runs at "
            f"{units.show_rate(rate)}. {fits}"
        )
        yield Problem(path=("topology", "switch"), message=message, value=switch.name)


def _family(switch: Switch) -> str:
    if "tcp" in switch.fabrics:
        return "an Ethernet"
    return "an InfiniBand" if "infiniband" in switch.fabrics else f"a {switch.fabrics[0]}"


def _function_problems(
    facts: FabricFacts, switch: Switch, fabric: FabricChoice
) -> Iterator[Problem]:
    """Yield what is asked of a switch that it cannot do."""
    mode = fabric.load_balancing
    if mode in facts.switch_balancing and not switch.adaptive_routing:
        others = [mode for mode in facts.load_balancing if mode not in facts.switch_balancing]
        message = (
            f"needs adaptive routing, which topology.switch {switch.name} does not have; it "
            f"has {_and(others)}"
        )
        yield Problem(path=("fabric", "load_balancing"), message=message, value=mode)
    if (
        fabric.in_network_reduction
        and facts.in_network_reduction
        and not switch.in_network_reduction
    ):
        message = f"is not possible: topology.switch {switch.name} does not reduce"
        yield Problem(path=("fabric", "in_network_reduction"), message=message, value=True)


def _media_problems(
    host: Host, fabric: FabricChoice, topology: TopologyChoice
) -> Iterator[Problem]:
    try:
        medium(link_rate(host, fabric), topology.cable_m, fabric.kind)
    except Infeasible as error:
        message = str(error).partition(": ")[2].partition(": ")[2]
        yield Problem(path=("topology", "cable_m"), message=message, value=topology.cable_m)


def _names(devices: Iterable[Nic | Switch]) -> str:
    found = [device.name for device in devices]
    more = len(found) - _MOST_NAMES
    listed = ", ".join(found[:_MOST_NAMES]) or "none"
    return f"{listed} and {more} more" if more > 0 else listed


def _and(items: Iterable[str]) -> str:
    *first, last = items
    return f"{', '.join(first)} and {last}" if first else last
