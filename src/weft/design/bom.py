"""The bill of materials: servers, NICs, switches by tier, optics and cables by layer."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal

from weft import catalogue
from weft.catalogue.devices import Gpu, Nic, Server
from weft.catalogue.fitting import server_nic
from weft.design.ledger import EMPTY, Label, Ledger, Terms, stated, with_device
from weft.errors import Infeasible, SpecError
from weft.network.network import Network, layout, resolve
from weft.network.topology import Layout
from weft.results import Estimate
from weft.sources import Sourced
from weft.spec.cluster import Cluster, TopologyChoice
from weft.spec.compatibility import nic_of

Part = Literal["servers", "nics", "switches", "optics"]
Net = Literal["compute", "storage"]

NETWORK_PARTS: Final = ("nics", "switches", "optics")
_FAR_FEWER: Final = 0.7
"""Share of the switches from which the cheaper wiring is worth a word."""
_STORAGE_OVERSUBSCRIPTION: Final = 4 / 3
"""Hosts over storage at the leaf of a storage fabric. [DGX SuperPOD H100]"""
_STORAGE_PORT_BYTES_PER_S: Final = 25e9
"""Of one storage port where the spec names none. [DGX SuperPOD H100]"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One position of a bill; prices and powers are those of one piece."""

    part: Part
    net: Net
    item: str
    """Slug in the catalogue."""
    place: str
    """Where it goes: leaf, spine, core; host_leaf, leaf_spine, spine_core."""
    count: int
    unit_usd: Estimate
    unit_power_w: Estimate
    """Rated for a server, typical for everything else."""
    usd_terms: Terms
    power_terms: Terms
    optical: bool = False
    owned: int = 0
    """Pieces that are already there (constraints.owned): they are not bought."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bill:
    """All that is bought for a cluster, and the numbers that its prices rest on."""

    lines: tuple[Line, ...]
    ledger: Ledger
    notes: tuple[str, ...] = ()

    def count(self, part: Part) -> int:
        """Count the pieces of one part."""
        return sum(line.count for line in self.lines if line.part == part)


def bill(cluster: Cluster) -> Bill:
    """Return the bill of materials of a cluster; raise Infeasible when ports run out.

    The price and the power of a catalogue server contain its own NICs. They are taken out of
    it and listed apart, so that another NIC changes the bill by what it costs more.
    """
    network = resolve(cluster)
    ledger, lines, notes = _hosts(cluster, network.nic, EMPTY)
    if not network.is_needed:
        return Bill(lines=lines, ledger=ledger, notes=notes)
    owned = cluster.constraints.owned
    ledger, compute = _network(cluster, network, "compute", ledger)
    lines += compute
    if cluster.storage_fabric is not None:
        separate = storage_cluster(cluster, network.layout.site.trays_per_host)
        ledger, storage = _network(separate, resolve(separate), "storage", ledger)
        lines += storage
    lines = tuple(_with_owned(lines, {**owned.switches, **owned.nics}))
    sparse = _sparse_rails(cluster, network.layout)
    return Bill(lines=lines, ledger=ledger, notes=notes + sparse)


def _with_owned(lines: tuple[Line, ...], owned: Mapping[str, int]) -> Iterator[Line]:
    """Yield lines with the pieces that are already there, the first lines served first."""
    left = dict(owned)
    for line in lines:
        used = min(line.count, left.get(line.item, 0))
        left[line.item] = left.get(line.item, 0) - used
        yield replace(line, owned=used)


def _sparse_rails(cluster: Cluster, network: Layout) -> tuple[str, ...]:
    """Say when rails of their own leave leaves so empty that shared leaves cost far less."""
    if network.kind != "rail_optimized":
        return ()
    try:
        shared = layout(cluster.with_(topology=cluster.topology.with_(kind="leaf_spine")))
    except Infeasible:
        return ()
    switches = network.leaf + network.spine + network.core
    fewer = shared.leaf + shared.spine + shared.core
    if fewer > _FAR_FEWER * switches:
        return ()
    message = (
        f"a leaf for every rail, as published designs have it, takes {switches} switches here "
        f"with room to grow; topology.kind=leaf_spine joins the same ports with {fewer}"
    )
    return (message,)


def storage_cluster(cluster: Cluster, trays_per_host: int = 1) -> Cluster:
    """Return the storage fabric of a hybrid as a cluster of its own: few ports a tray."""
    fabric = cluster.storage_fabric
    assert fabric is not None, "only a hybrid has a storage fabric"
    ports = round(catalogue.find("assumptions", "storage_ports").value.value)
    rate = fabric.link_bytes_per_s or _STORAGE_PORT_BYTES_PER_S
    topology = TopologyChoice(
        kind="fat_tree",
        oversubscription=_STORAGE_OVERSUBSCRIPTION,
        cable_m=cluster.topology.cable_m,
    )
    return cluster.with_(
        hosts=cluster.hosts * trays_per_host,
        fabric=fabric,
        storage_fabric=None,
        topology=topology,
        host=cluster.host.with_(
            server="", nic="", nics=ports, nic_bytes_per_s=rate, gpus=ports
        ),
    )


def server_of(cluster: Cluster) -> Server | None:
    """Return the server of the catalogue that the spec names, if any."""
    return catalogue.find("servers", cluster.host.server) if cluster.host.server else None


def _hosts(
    cluster: Cluster, bought_nic: Nic | None, ledger: Ledger
) -> tuple[Ledger, tuple[Line, ...], tuple[str, ...]]:
    host = cluster.host
    notes: tuple[str, ...] = ()
    server = server_of(cluster)
    ledger, item = _with_server(cluster, server, ledger)
    own = server_nic(server) if server else bought_nic
    slug = bought_nic.name if bought_nic else "NIC"
    nic, nics = (own.name, server.nics) if server and own else (slug, host.nics)
    for device in filter(None, (own, bought_nic)):
        ledger = with_device(ledger, f"price of {device.name}", device.price_usd, device)
        ledger = with_device(ledger, f"power of {device.name}", device.power_w, device)
    inside = _terms(ledger, f"price of {nic}", -nics)
    drawn = _terms(ledger, f"power of {nic}", -nics)
    bought = _terms(ledger, f"price of {slug}", 1)
    if cluster.prices.nic_usd is not None:
        ledger = ledger.add(
            "prices.nic_usd", stated(cluster.prices.nic_usd, "prices.nic_usd"), {}
        )
        bought = (("prices.nic_usd", 1),)
    if not bought:
        notes = (f"{slug} has no price of its own: it counts as part of the server",)
    if item.startswith("estimate") and cluster.prices.server_usd is None:
        inside = ()
    lines = (
        _line(ledger, "servers", "compute", item, place="host", count=cluster.hosts,
              usd=(("server", 1), *inside), power=(("server power", 1), *drawn)),
        _line(ledger, "nics", "compute", slug, place="host",
              count=cluster.hosts * host.nics, usd=bought,
              power=_terms(ledger, f"power of {slug}", 1)),
    )  # fmt: skip
    return ledger, tuple(line for line in lines if line.count), notes


def server_lines(cluster: Cluster) -> tuple[Ledger, tuple[Line, ...]]:
    """Return the line of the servers alone, without any NIC or network."""
    ledger, lines, _ = _hosts(cluster, nic_of(cluster.host, cluster.fabric), EMPTY)
    return ledger, tuple(line for line in lines if line.part == "servers")


def _terms(ledger: Ledger, name: str, times: float) -> Terms:
    return ((name, times),) if name in ledger.numbers and times else ()


def _with_server(cluster: Cluster, server: Server | None, ledger: Ledger) -> tuple[Ledger, str]:
    """Add price and rated power of the server; what is not published follows its GPUs."""
    gpu = catalogue.find("gpus", cluster.host.gpu)
    item = server.name if server else f"estimate for {cluster.host.gpus} x {gpu.name}"
    price = server.price_usd if server else None
    if cluster.prices.server_usd is not None:
        price = stated(cluster.prices.server_usd, "prices.server_usd")
    elif price is None:
        item = f"estimate for {cluster.host.gpus} x {gpu.name}"
        price = _from_gpus(gpu, gpu.price_usd, "server_over_gpus", cluster.host.gpus)
    power = server.power_max_w if server else None
    if power is None:
        power = _from_gpus(gpu, gpu.power_w, "server_power_over_gpus", cluster.host.gpus)
    sources = {**gpu.sources, **(server.sources if server else {})}
    ledger = ledger.add("server", price, sources, Label(title="server", unit="USD"))
    rated = Label(title="server power", unit="W")
    return ledger.add("server power", power, sources, rated), item


def _from_gpus(gpu: Gpu, each: Sourced | None, ratio: str, gpus: int) -> Sourced:
    if each is None:
        raise SpecError(
            f"host.gpu: {gpu.name}: the catalogue has no price of it; set prices.server_usd"
        )
    over = catalogue.find("assumptions", ratio).value
    return Sourced(
        each.value * over.value * gpus,
        each.low * over.low * gpus,
        each.high * over.high * gpus,
        each.sources + over.sources,
        1,
    )


def _network(
    cluster: Cluster, network: Network, net: Net, ledger: Ledger
) -> tuple[Ledger, tuple[Line, ...]]:
    ledger, switches = _switches(cluster, network, net, ledger)
    ledger, cables = _cables(cluster, network, net, ledger)
    return ledger, switches + cables


def _switches(
    cluster: Cluster, network: Network, net: Net, ledger: Ledger
) -> tuple[Ledger, tuple[Line, ...]]:
    device, layout = network.switch, network.layout
    assert device is not None, "a network that is needed has a switch"
    slug = device.name
    price = f"price of {slug}"
    if cluster.prices.switch_usd is not None:
        price = "prices.switch_usd"
        ledger = ledger.add(price, stated(cluster.prices.switch_usd, price), {})
    ledger = with_device(ledger, price, device.price_usd, device)
    ledger = with_device(ledger, f"power of {slug}", device.power_w, device)
    tiers = {"leaf": layout.leaf, "spine": layout.spine, "core": layout.core}
    return ledger, tuple(
        _line(ledger, "switches", net, slug, place=tier, count=count,
              usd=((price, 1),), power=((f"power of {slug}", 1),))
        for tier, count in tiers.items()
        if count
    )  # fmt: skip


def _cables(
    cluster: Cluster, network: Network, net: Net, ledger: Ledger
) -> tuple[Ledger, tuple[Line, ...]]:
    cable = network.cable
    assert cable is not None, "a network that is needed has links"
    slug = cable.name
    ledger = with_device(ledger, f"price of {slug}", cable.price_usd, cable)
    ledger = with_device(ledger, f"power of {slug}", cable.power_per_end_w, cable)
    price: Terms = ((f"price of {slug}", 2 if cable.per_end else 1),)
    if cluster.prices.optic_usd is not None:
        optic = stated(cluster.prices.optic_usd, "prices.optic_usd")
        ledger, price = ledger.add("prices.optic_usd", optic, {}), (("prices.optic_usd", 1),)
    elif cable.per_end:
        fibre = catalogue.find("assumptions", "fibre_link")
        ledger = with_device(ledger, "fibre of a link", fibre.value, fibre)
        price += (("fibre of a link", 1),)
    return ledger, tuple(
        _line(ledger, "optics", net, slug, place=layer, count=count, usd=price,
              power=((f"power of {slug}", 2),), optical=cable.optical)
        for layer, count in network.layout.cables.items()
        if count
    )  # fmt: skip


def _line(
    ledger: Ledger, part: Part, net: Net, item: str, *, place: str, count: int,
    usd: Terms, power: Terms, optical: bool = False,
) -> Line:  # fmt: skip
    return Line(
        part=part, net=net, item=item, place=place, count=count,
        unit_usd=ledger.estimate(usd), unit_power_w=ledger.estimate(power),
        usd_terms=usd, power_terms=power, optical=optical,
    )  # fmt: skip
