"""Total cost of ownership: what a cluster costs over the years, and its network alone.

Hardware counts at its full purchase price, without a residual value; what is older than its
useful life is bought again in proportion. Servers draw the assumed share of their rated power,
the network draws its typical power all the time, and both pay the PUE. Colocation is for rated
power. A rented cluster pays its GPUs by the hour, and nothing else unless engineers are named.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from weft import catalogue
from weft.catalogue.devices import Gpu, Provider
from weft.catalogue.fitting import provider_of, providers_price
from weft.design.bom import NETWORK_PARTS, Line, Part, bill, server_of
from weft.design.ledger import (
    EMPTY,
    Ledger,
    label_of,
    spread,
    stated,
    with_assumption,
)
from weft.errors import SpecError, UnknownName
from weft.results import Estimate
from weft.sources import Source, Sourced
from weft.spec.cluster import Cluster
from weft.units import SECONDS

HOURS_PER_YEAR = SECONDS["year"] / SECONDS["h"]
_MONTHS_PER_YEAR = 12
_W_PER_KW = 1000
_GPUS_PER_STAFFED = 1000

Values = Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class TotalCost:
    """What a cluster costs over the years, with 80 % bands from the ranges of its sources.

    ``parts`` adds up to ``total_usd``: servers, nics, switches, optics, spares, energy,
    colocation, staff and support; or rental (and staff) where the cluster is rented.
    """

    years: float
    gpus: int
    rented: bool
    parts: Mapping[str, Estimate]
    total_usd: Estimate
    network_usd: Estimate
    """Its hardware, energy, colocation, staff and support; of a rented cluster the
    published share of networks in what a cluster costs."""
    hardware_usd: Estimate
    """Purchase alone; zero where rented."""
    network_hardware_usd: Estimate
    network_share_ratio: Estimate
    """Of the network in the purchase."""
    usd_per_gpu_hour: Estimate
    energy_usd_per_year: Estimate
    power_w: Estimate
    """Average at the meter, cooling included."""
    it_power_w: Estimate
    """Rated power of servers and network, cooling left out."""
    rented_usd_per_gpu_hour: Estimate | None
    """What such a GPU rents for, whether this cluster is rented or not."""
    lines: tuple[Line, ...] = ()
    """The bill of materials; empty where the cluster is rented, for nobody buys anything."""
    warnings: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()
    ledger: Ledger
    """Every number that the cost rests on, with its sources."""


def total_cost(cluster: Cluster, overrides: Mapping[str, float] | None = None) -> TotalCost:
    """Return the cost of a cluster over ``prices.years``.

    ``overrides`` replaces assumptions of the catalogue by name, as ``server_load`` or
    ``colocation``, where the spec has no key of its own for them.
    """
    if is_rented(cluster):
        return _rented(cluster, overrides or {})
    return _owned(cluster, overrides or {})


def is_rented(cluster: Cluster) -> bool:
    """Tell whether a cluster is paid by the hour: a price is named, or it is a cloud's."""
    if cluster.prices.gpu_rental_usd_per_h is not None:
        return True
    server = server_of(cluster)
    return server is not None and server.cloud and cluster.prices.server_usd is None


def _owned(cluster: Cluster, overrides: Mapping[str, float]) -> TotalCost:
    materials = bill(cluster)
    ledger = running(cluster, materials.ledger, overrides)
    results = spread(bought(cluster, materials.lines), ledger.numbers)
    rental = _rental_of(cluster)
    return replace(
        _collected(cluster, results, ledger, rented=False),
        lines=materials.lines,
        warnings=(_unusual(results["share"].value) if cluster.host.nics else ())
        + _too_much_power(cluster, results["power_w"].value)
        + materials.notes,
        rented_usd_per_gpu_hour=_as_estimate(rental.usd_per_h) if rental else None,
    )


def _too_much_power(cluster: Cluster, power_w: float) -> tuple[str, ...]:
    """Warn of a cluster that draws more than its site gives."""
    limit_w = cluster.site_power_limit_w
    if limit_w is None or power_w <= limit_w:
        return ()
    message = (
        f"the cluster draws {power_w / 1e3:,.0f} kW on average at the meter and "
        f"site_power_limit_w is {limit_w / 1e3:,.0f} kW: fewer hosts, or another site"
    )
    return (message,)


def _unusual(share: float) -> tuple[str, ...]:
    """Warn of a network that costs much more or much less than published ones."""
    usual = catalogue.find("assumptions", "network_share").value
    if usual.low <= share <= usual.high:
        return ()
    message = (
        f"the network is {share * 100:.2g} % of the hardware cost; of published clusters it is "
        f"{usual.low * 100:g} to {usual.high * 100:g} %: check prices, oversubscription and "
        "topology"
    )
    return (message,)


def _as_estimate(number: Sourced) -> Estimate:
    return Estimate(number.value, number.low, number.high)


def bought(cluster: Cluster, lines: tuple[Line, ...]) -> Callable[[Values], dict[str, float]]:
    """Return the cost of what is bought and run, as a function of the ledger's numbers."""
    years, gpus = cluster.prices.years, cluster.gpus
    rounds = {part: life_rounds(part, years) for part in ("servers", *NETWORK_PARTS)}

    def results(x: Values) -> dict[str, float]:
        usd, worth, watt, optical = _hardware(lines, x)
        network_usd = sum(usd[part] for part in NETWORK_PARTS)
        network_w = sum(watt[part] for part in NETWORK_PARTS)
        running = _year(x, watt["servers"], network_w, cluster)
        network_share_w = network_w * x["pue"] / running["power_w"]
        supported = worth["switches"] * x["support_network"]
        supported += worth["nics"] * x["support_servers"]
        parts: dict[str, float] = {
            **{str(part): spent * rounds[part] for part, spent in usd.items()},
            "spares": optical * x["transceiver_failures"] * years,
            "energy": running["energy"] * years,
            "colocation": running["colocation"] * years,
            "staff": running["staff"] * years,
            "support": years * (usd["servers"] * x["support_servers"] + supported),
        }  # fmt: skip
        network = (
            sum(parts[part] for part in NETWORK_PARTS) + parts["spares"] + parts["staff"]
            + parts["energy"] * network_share_w
            + parts["colocation"] * network_w / running["it_power_w"]
            + years * supported
        )  # fmt: skip
        total = sum(parts.values())
        return {
            **parts,
            "total": total, "network": network, "hardware": sum(usd.values()),
            "network_hardware": network_usd,
            "share": sum(worth[part] for part in NETWORK_PARTS) / sum(worth.values()),
            "usd_per_gpu_hour": total / (gpus * years * HOURS_PER_YEAR),
            "energy_year": running["energy"],
            "power_w": running["power_w"], "it_power_w": running["it_power_w"],
        }  # fmt: skip

    return results


def _hardware(
    lines: tuple[Line, ...], x: Values
) -> tuple[dict[Part, float], dict[Part, float], dict[Part, float], float]:
    """Return purchase, worth and power by part, and what of the purchase is optical.

    What is already there is worth its price (support is paid for it) and is not bought.
    """
    usd: dict[Part, float] = {"servers": 0.0, "nics": 0.0, "switches": 0.0, "optics": 0.0}
    worth, watt = dict(usd), dict(usd)
    optical = 0.0
    for line in lines:
        each = sum(x[name] * times for name, times in line.usd_terms)
        bought = (line.count - line.owned) * each
        usd[line.part] += bought
        worth[line.part] += line.count * each
        watt[line.part] += line.count * sum(x[name] * t for name, t in line.power_terms)
        optical += bought if line.optical else 0.0
    return usd, worth, watt, optical


def _year(x: Values, servers_w: float, network_w: float, cluster: Cluster) -> dict[str, float]:
    """Return what a year of running costs, and the power that it draws."""
    power_w = (servers_w * x["server_load"] + network_w) * x["pue"]
    it_power_w = servers_w + network_w
    effort = x.get("fabric_engineers", 0.0) * x.get("untuned_effort", 1.0)
    engineers = x.get("engineers", 0.0) + effort * cluster.gpus / _GPUS_PER_STAFFED
    return {
        "power_w": power_w,
        "it_power_w": it_power_w,
        "energy": power_w / _W_PER_KW * HOURS_PER_YEAR * x["electricity"],
        "colocation": it_power_w / _W_PER_KW * _MONTHS_PER_YEAR * x["colocation"],
        "staff": engineers * x["engineer"],
    }


def life_rounds(part: str, years: float) -> float:
    """Return how often a part is bought in so many years."""
    name = "life_servers" if part == "servers" else "life_network"
    return max(1.0, years / catalogue.find("assumptions", name).value.value)


def running(
    cluster: Cluster, ledger: Ledger, overrides: Mapping[str, float] | None = None
) -> Ledger:
    """Add what running costs: the spec's own prices first, then the catalogue's."""
    prices = cluster.prices
    support = prices.support_ratio_per_year
    written = {
        "electricity": (prices.electricity_usd_per_kwh, "electricity_usd_per_kwh"),
        "pue": (prices.pue, "pue"),
        "engineer": (prices.engineer_usd_per_year, "engineer_usd_per_year"),
        "support_network": (support, "support_ratio_per_year"),
        "support_servers": (support, "support_ratio_per_year"),
        "colocation": (None, ""),
        "server_load": (None, ""),
        "transceiver_failures": (None, ""),
    }
    for name, (value, key) in written.items():
        ledger = with_assumption(ledger, name, value, key)
    if cluster.host.nics:  # without NICs there is no fabric to run
        ledger = _engineers(cluster, ledger)
    return _overridden(ledger, overrides or {})


def _overridden(ledger: Ledger, overrides: Mapping[str, float]) -> Ledger:
    for name, value in overrides.items():
        if name not in ledger.numbers:
            known = ", ".join(sorted(ledger.numbers))
            raise UnknownName(f"this cost does not rest on {name!r}; it rests on: {known}")
        ledger = ledger.add(name, stated(value, f"overrides.{name}"), {})
    return ledger


def _engineers(cluster: Cluster, ledger: Ledger) -> Ledger:
    if cluster.prices.fabric_engineers is not None:
        number = stated(cluster.prices.fabric_engineers, "prices.fabric_engineers")
        return ledger.add("engineers", number, {})
    name = f"fabric_engineers_{cluster.fabric.kind}"
    if name not in catalogue.names("assumptions"):
        name = "fabric_engineers_other"
    effort = catalogue.find("assumptions", name)
    ledger = ledger.add("fabric_engineers", effort.value, effort.sources, label_of(effort))
    if cluster.fabric.tuning == "tuned":
        return ledger
    return with_assumption(ledger, "untuned_effort", None, "")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rent:
    """Price of one GPU for one hour, and whose it is."""

    usd_per_h: Sourced
    sources: Mapping[str, Source]
    said: tuple[str, ...] = ()


def _rental_of(cluster: Cluster) -> _Rent | None:
    """Return what the spec states, else the provider's own price, else that of the market."""
    gpu = catalogue.find("gpus", cluster.host.gpu)
    if cluster.prices.gpu_rental_usd_per_h is not None:
        own = stated(cluster.prices.gpu_rental_usd_per_h, "prices.gpu_rental_usd_per_h")
        return _Rent(usd_per_h=own, sources={})
    provider = provider_of(cluster.host.server)
    market = gpu.rental_usd_per_h
    if provider is None:
        return None if market is None else _Rent(usd_per_h=market, sources=gpu.sources)
    price = provider.price_usd_per_h.get(gpu.name)
    if price is not None:
        date = provider.sources[price.sources[0]].date
        said = f"{provider.title} asks {price.value:g} USD for one {gpu.title} and hour"
        return _Rent(usd_per_h=price, sources=provider.sources, said=(f"{said} ({date})",))
    return None if market is None else _market_rent(provider, gpu, market)


def _market_rent(provider: Provider, gpu: Gpu, market: Sourced) -> _Rent:
    """Return the price of the market, its range up to the most that a provider asks."""
    known = providers_price(gpu.name).values()
    highest = max((price.high for price in known), default=market.high)
    wider = replace(market, high=max(market.high, highest), confidence=1)
    said = (
        f"no price of {provider.title} for one {gpu.title} is known: that of the market, with "
        "a range up to the highest of any provider"
    )
    return _Rent(usd_per_h=wider, sources=gpu.sources, said=(said,))


def _rented(cluster: Cluster, overrides: Mapping[str, float]) -> TotalCost:
    rent = _rental_of(cluster)
    if rent is None:
        raise SpecError(
            f"host.gpu: {cluster.host.gpu}: the catalogue has no rental price of it; set "
            "prices.gpu_rental_usd_per_h"
        )
    ledger = EMPTY.add("rental", rent.usd_per_h, rent.sources)
    for name in ("network_share", "server_load", "engineer"):
        ledger = with_assumption(ledger, name, None, "")
    ledger = with_assumption(ledger, "pue", cluster.prices.pue, "pue")
    if cluster.prices.engineer_usd_per_year is not None:
        ledger = with_assumption(
            ledger, "engineer", cluster.prices.engineer_usd_per_year, "engineer_usd_per_year"
        )
    if cluster.prices.fabric_engineers is not None:
        ledger = _engineers(cluster, ledger)
    power = _rated_power(cluster)
    ledger = _overridden(ledger.add("server power", power, {}), overrides)
    results = spread(_hired(cluster), ledger.numbers)
    note = "rented: the network, its power and its staff are in the price of a GPU-hour"
    return replace(
        _collected(cluster, results, ledger, rented=True),
        warnings=(note, *rent.said),
        rented_usd_per_gpu_hour=_as_estimate(rent.usd_per_h),
    )


def _hired(cluster: Cluster) -> Callable[[Values], dict[str, float]]:
    """Return the cost of a rented cluster as a function of the ledger's numbers."""
    years, gpus = cluster.prices.years, cluster.gpus
    hours = years * HOURS_PER_YEAR

    def results(x: Values) -> dict[str, float]:
        parts = {
            "rental": gpus * hours * x["rental"],
            "staff": x.get("engineers", 0.0) * x["engineer"] * years,
        }
        rated_w = cluster.hosts * x["server power"]
        total = sum(parts.values())
        return {
            **parts, "total": total,
            "network": parts["rental"] * x["network_share"] + parts["staff"],
            "hardware": 0.0, "network_hardware": 0.0, "share": x["network_share"],
            "usd_per_gpu_hour": total / (gpus * hours), "energy_year": 0.0,
            "power_w": rated_w * x["server_load"] * x["pue"], "it_power_w": rated_w,
        }  # fmt: skip

    return results


def _rated_power(cluster: Cluster) -> Sourced:
    server = server_of(cluster)
    if server is not None and server.power_max_w is not None:
        return server.power_max_w
    gpu = catalogue.find("gpus", cluster.host.gpu)
    over = catalogue.find("assumptions", "server_power_over_gpus").value
    times = cluster.host.gpus * gpu.power_w.value
    keys = gpu.power_w.sources + over.sources
    return Sourced(times * over.value, times * over.low, times * over.high, keys, 1)


_SUMMARY = frozenset({
    "total", "network", "hardware", "network_hardware", "share", "usd_per_gpu_hour",
    "energy_year", "power_w", "it_power_w",
})  # fmt: skip


def _collected(
    cluster: Cluster, results: Mapping[str, Estimate], ledger: Ledger, *, rented: bool
) -> TotalCost:
    return TotalCost(
        years=cluster.prices.years,
        gpus=cluster.gpus,
        rented=rented,
        parts={name: part for name, part in results.items() if name not in _SUMMARY},
        total_usd=results["total"],
        network_usd=results["network"],
        hardware_usd=results["hardware"],
        network_hardware_usd=results["network_hardware"],
        network_share_ratio=results["share"],
        usd_per_gpu_hour=results["usd_per_gpu_hour"],
        energy_usd_per_year=results["energy_year"],
        power_w=results["power_w"],
        it_power_w=results["it_power_w"],
        rented_usd_per_gpu_hour=None,
        assumptions=ledger.weak(),
        ledger=ledger,
    )
