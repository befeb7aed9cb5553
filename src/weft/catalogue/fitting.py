"""Which devices fit together: switches, NICs and cables of a fabric, and who rents what."""

from functools import cache, lru_cache
from math import inf
from typing import Final

from weft import units
from weft.catalogue.devices import Cable, Nic, Provider, Server, Switch
from weft.catalogue.load import find, names
from weft.errors import Infeasible
from weft.sources import Sourced

SLACK: Final = 1 - 1e-9
"""What of a rate is enough where it has been divided and multiplied."""


@lru_cache(maxsize=1024)
def switches_for(fabric: str, rate_bytes_per_s: float) -> tuple[Switch, ...]:
    """Return the switches that speak a fabric and have ports of a rate, the cheapest first.

    >>> [switch.name for switch in switches_for("infiniband", 25e9)][:2]
    ['qm8700', 'qm9700']
    """
    carrier = find("fabrics", fabric).carried_by
    found = [find("switches", name) for name in names("switches")]
    able = [
        switch
        for switch in found
        if carrier in switch.fabrics and has_ports(switch, rate_bytes_per_s)
    ]
    return tuple(sorted(able, key=_price))


def has_ports(switch: Switch, rate_bytes_per_s: float) -> bool:
    """Tell whether a port of a switch is as fast as a link."""
    return max(switch.radix) >= rate_bytes_per_s * SLACK


@lru_cache(maxsize=1024)
def nics_for(fabric: str, rate_bytes_per_s: float) -> tuple[Nic, ...]:
    """Return the NICs that speak a fabric at a rate: the slowest first, then the cheapest.

    >>> nics_for("ultra_ethernet", 50e9)[0].name
    'pollara'
    """
    found = [find("nics", name) for name in names("nics")]
    able = [
        nic
        for nic in found
        if fabric in nic.fabrics and nic.bytes_per_s.value >= rate_bytes_per_s * SLACK
    ]
    return tuple(sorted(able, key=lambda nic: (nic.bytes_per_s.value, _price(nic), nic.name)))


def usual_switch(fabric: str, rate_bytes_per_s: float, balancing: str | None = None) -> str:
    """Return the switch that a fabric is usually built with at a link rate.

    Where load balancing needs adaptive routing, it is the first usual one that has it.

    >>> usual_switch("infiniband", 50e9)
    'qm9700'
    """
    facts = find("fabrics", fabric)
    usual = facts.usual_switches
    enough = [name for rate, name in usual.items() if rate >= rate_bytes_per_s * SLACK]
    if balancing in facts.switch_balancing:
        able = [name for name in enough if find("switches", name).adaptive_routing]
        enough = able or enough
    return enough[0] if enough else list(usual.values())[-1]


@cache
def provider_of(server: str) -> Provider | None:
    """Return who rents a server of the catalogue; none where it is bought.

    >>> provider_of("aws_p5").title, provider_of("dgx_h100")
    ('Amazon Web Services', None)
    """
    found = (find("providers", name) for name in names("providers"))
    return next((provider for provider in found if server in provider.servers), None)


def server_nic(server: Server) -> Nic:
    """Return the NIC that a server of the catalogue is sold or rented with."""
    return find("nics", server.nic)


def providers_price(gpu: str) -> dict[str, Sourced]:
    """Return what each provider asks for one GPU and hour, where it is known."""
    found = [find("providers", name) for name in names("providers")]
    return {
        provider.name: provider.price_usd_per_h[gpu]
        for provider in found
        if gpu in provider.price_usd_per_h
    }


def link_usd(cable: Cable) -> float:
    """Return the price of one link: a cable, or two transceivers and the fibre between."""
    assert cable.price_usd is not None, f"cable {cable.name} has no price"
    fibre = find("assumptions", "fibre_link").value.value
    return 2 * cable.price_usd.value + fibre if cable.per_end else cable.price_usd.value


@lru_cache(maxsize=1024)
def medium(rate_bytes_per_s: float, length_m: float, fabric: str) -> Cable:
    """Return the cheapest medium that carries a rate so far on a fabric.

    A rate that no medium has takes the next faster one. A fabric that another one carries
    takes what that one takes.

    >>> medium(50e9, 2, "infiniband").name, medium(50e9, 30, "infiniband").name
    ('dac_400g', 'sr4_400g')
    """
    carrier = find("fabrics", fabric).carried_by
    cables = [find("cables", name) for name in names("cables")]
    fitting = [
        cable
        for cable in cables
        if carrier in cable.fabrics and cable.bytes_per_s.value >= rate_bytes_per_s * SLACK
    ]
    reaching = [cable for cable in fitting if cable.reach_m.value >= length_m]
    if not reaching:
        longest = max((cable.reach_m.value for cable in fitting), default=0)
        raise Infeasible(
            f"topology.cable_m: {length_m:g}: no medium carries "
            f"{units.show_rate(rate_bytes_per_s)} so far on {fabric}; the longest reaches "
            f"{longest:g} m"
        )
    slowest = min(cable.bytes_per_s.value for cable in reaching)
    return min(
        (cable for cable in reaching if cable.bytes_per_s.value == slowest), key=link_usd
    )


def _price(device: Nic | Switch) -> float:
    return inf if device.price_usd is None else device.price_usd.value
